// Package pages writes the tables and numbers of README.md and docs/*.md from the results of
// experiments. Use it after an experiment was run again. Start with go run ./bench pages.
//
// A result is docs/results/NAME/EXPERIMENT.json, as go run ./bench EXPERIMENT --out
// docs/results/NAME leaves it, or bench/peers. A page says where its numbers come from:
//
//	<!-- table verdicts fig2/fig2.json -->
//	<!-- end -->
//
//	<!-- value attack/attack.json label_found_linked percent reports=1 -->44 %<!-- end -->
//
//	<!-- picture fig8 errors figs6-16/figs6-16.json figure=8 -->
//	<!-- end -->
//
//	<!-- lines demo/output.txt 30 -->
//	<!-- end -->
//
//	<!-- film demo/terminal.cast -->
//	<!-- end -->
//
// A table is made from one or several results, by the function of its name. The line below it
// names the commands that produced them. A picture is NAME.svg beside the results, of the form of that name and
// of the rows of one or several results in which columns have the values behind the files. A value is a cell of the only row in which columns
// have the values after its form: percent, or a verb of package fmt. Lines are what a command
// printed, from the line on that begins with a word. The file's first line says how it was made. A film is a recording of
// a terminal as an SVG that moves: asciinema rec --cols 80 --rows 24 --command COMMAND --title "COMMAND at COMMIT, DATE, on MACHINE" FILE.
package pages
