// Package bench measures the plugins command against what the same work costs at
// the least: an empty program for a run in which nothing is missing, a bare
// pipeline for a download. It holds no code but tests; "make bench" runs it, and
// docs/performance.md says what the numbers mean.
//
// Everything is a ratio of two sides that were measured in turns, in one run, so
// that a busy machine slows both; a benchmark never fails because a ratio missed
// its aim. What can be counted (requests, writes, bytes of plugins that were
// read) is asserted by ordinary tests, which "make test" runs too.
//
// Sides run as processes of their own, started by a launcher that is a small
// process too; see launch_test.go for the reason. Start at the benchmarks:
// warm_test.go, cold_test.go, memory_test.go, crowd_test.go.
package bench
