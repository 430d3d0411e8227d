// Package e2e tests plugins against real registries (distribution v3 in process,
// Debian's docker-registry as a process, the project's own test registry) and
// real clients: crane, oras and skopeo, which copy and check images; umoci,
// podman and containerd, which run them; buildah, which makes others. It is a
// module of its own, so that whoever embeds plugins never sees what these need.
//
// Start at [forEach] in registries_test.go, and at [publishSample] in
// sample_test.go for what an author does. What is not installed, or what a
// sandbox does not let run, is skipped, with the reason. Everything listens on
// loopback only. Run it with `make e2e`.
package e2e
