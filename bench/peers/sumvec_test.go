package main

import "testing"

func TestSumVecSumsExactly(t *testing.T) { sumsExactly(t, open(t, newSumVec), sample(4)) }
