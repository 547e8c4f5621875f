module example.org/mechanisms

go 1.26.0

require github.com/hushgrad/hushgrad v0.0.0

replace github.com/hushgrad/hushgrad => ../..
