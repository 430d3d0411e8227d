package bench

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// code makes bytes that compress as machine code does, about 2.6 times: words of
// a vocabulary, the frequent ones far more often than the rest, with bytes of
// chance between them. The same seed gives the same bytes.
type code struct {
	chance *rand.Rand
	words  [][]byte
	left   []byte
}

const (
	vocabulary  = 1500
	shortWord   = 4
	wordLengths = 16
	afterWord   = 0.3 // how often bytes of chance follow a word
)

func newCode(seed uint64) *code {
	c := &code{chance: rand.New(rand.NewPCG(seed, 1))}
	for range vocabulary {
		word := make([]byte, shortWord+c.chance.IntN(wordLengths))
		for i := range word {
			word[i] = byte(c.chance.Uint32())
		}
		c.words = append(c.words, word)
	}
	return c
}

// Read implements io.Reader; there is no end.
func (c *code) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		if len(c.left) == 0 {
			c.left = c.next(c.left[:0])
		}
		k := copy(p[n:], c.left)
		c.left = c.left[k:]
		n += k
	}
	return len(p), nil
}

func (c *code) next(word []byte) []byte {
	rank := c.chance.Float64()
	word = append(word, c.words[int(rank*rank*rank*vocabulary)]...)
	if c.chance.Float64() < afterWord {
		for v := c.chance.Uint64(); v&3 != 0 && len(word) < 64; v >>= 10 {
			word = append(word, byte(v>>2))
		}
	}
	return word
}

func TestCodeCompressesLikePrograms(t *testing.T) {
	raw := make([]byte, 4<<20)
	_, _ = newCode(1).Read(raw)
	again := make([]byte, len(raw))
	_, _ = newCode(1).Read(again[:1000]) // in two parts, to see that parts do not matter
	c := newCode(1)
	_, _ = c.Read(again[:1000])
	_, _ = c.Read(again[1000:])
	if !bytes.Equal(raw, again) {
		t.Error("the same seed gave other bytes")
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(raw)
	_ = z.Close()
	if got := float64(len(raw)) / float64(packed.Len()); got < 2.2 || got > 3 {
		t.Errorf("compresses %.2f times, want about 2.6", got)
	}
}
