// Package e2e tests plugins against real registries (distribution v3 in process,
// Debian's docker-registry as a process, the project's own test registry) and
// real clients (crane, oras, skopeo). It is a module of its own, so that whoever
// embeds plugins never sees what these need.
//
// Start at [forEach] in registries_test.go. What is not installed is skipped,
// with the reason. Run it with `make e2e`.
package e2e
