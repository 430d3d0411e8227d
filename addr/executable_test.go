package addr_test

import (
	"testing"

	"github.com/pluginlock/plugins/addr"
)

func TestExecutable(t *testing.T) {
	linux, windows := parsePlatform(t, "linux/amd64"), parsePlatform(t, "windows/amd64")
	one := addr.Executable{Path: "/plugins/aws"}
	two := addr.Executable{ByPlatform: map[addr.Platform]string{windows: "/aws.exe", linux: "/aws"}}
	for _, test := range []struct {
		name       string
		executable addr.Executable
		linux, mac string
		platforms  string
	}{
		{"none", addr.Executable{}, "", "", ""},
		{"one path", one, "/plugins/aws", "/plugins/aws", ""},
		{"by platform", two, "/aws", "", "linux/amd64 windows/amd64"},
	} {
		e := test.executable
		if e.For(linux) != test.linux || e.For(parsePlatform(t, "darwin/arm64")) != test.mac || join(e.Platforms()) != test.platforms {
			t.Errorf("%s: %q, %q, %q", test.name, e.For(linux), e.For(parsePlatform(t, "darwin/arm64")), join(e.Platforms()))
		}
		if e.IsZero() != (test.name == "none") {
			t.Errorf("%s: IsZero is %v", test.name, e.IsZero())
		}
	}
}

func TestExecutableEqual(t *testing.T) {
	linux := parsePlatform(t, "linux/amd64")
	byPlatform := func(path string) addr.Executable {
		return addr.Executable{ByPlatform: map[addr.Platform]string{linux: path}}
	}
	for _, test := range []struct {
		a, b addr.Executable
		want bool
	}{
		{addr.Executable{}, addr.Executable{ByPlatform: map[addr.Platform]string{}}, true},
		{addr.Executable{Path: "/a"}, addr.Executable{Path: "/a"}, true},
		{addr.Executable{Path: "/a"}, addr.Executable{Path: "/b"}, false},
		{addr.Executable{Path: "/a"}, byPlatform("/a"), false},
		{byPlatform("/a"), byPlatform("/a"), true},
		{byPlatform("/a"), byPlatform("/b"), false},
	} {
		if got := test.a.Equal(test.b); got != test.want {
			t.Errorf("%+v equal to %+v: %v", test.a, test.b, got)
		}
	}
}
