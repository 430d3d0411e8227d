package filename

import "testing"

func TestIsDevice(t *testing.T) {
	for name, want := range map[string]bool{
		"con": true, "PRN": true, "Aux": true, "nul": true, "conin$": true, "CONOUT$": true,
		"com0": true, "com9": true, "LPT1": true, "com¹": true, "lpt³": true,
		"nul.txt": true, "com1.tar.gz": true, "con ": true, "con .txt": true,
		"": false, "com": false, "lpt": false, "com10": false, "comx": false, "com⁴": false,
		"console": false, "xcon": false, " con": false, "txt.nul": false, ".nul": false, "com\xff": false,
	} {
		if got := IsDevice(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
