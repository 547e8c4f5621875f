// Package baseline is a table of the mechanisms that hushgrad is compared with. They run in the
// stock server like any other. Use them to see what another mechanism gains. Start
// with the package of one.
//
// A mechanism's package bears its registered name where it can. This is the list of all that
// do not, here and elsewhere:
//
//	registered name              package           why
//	none                         baseline/dense    none.Name would read like a missing name
//	privunitg                    baseline/privunit named after the family of mechanisms
//	pckv-ternary                 baseline/ternary  package names have no hyphens
//	pckv-ue, pckv-grr, pckv-agrr keyvalue/pckv     three mechanisms in one package
//	privkv, privkvm, kvue        keyvalue/privkv   three mechanisms in one package
//	sumdp                        hdsum             the protocols below SumDP are there too
//	sumdp-shares                 hdsum/shares      package names have no hyphens
//
// The other mechanisms have their packages' names: gaussian and laplace here, succinct below
// keyvalue, and coco, collision, signsketch, auto and tiers.
package baseline
