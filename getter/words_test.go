package getter

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
)

func TestWords(t *testing.T) {
	dial := func(err error) error {
		return &url.Error{Op: "Get", URL: "https://x.example/v2/?token=s", Err: &net.OpError{Op: "dial", Net: "tcp", Err: err}}
	}
	for want, err := range map[string]error{
		"the name x.example is not known to the name server":                             dial(&net.DNSError{Err: "no such host", Name: "x.example", IsNotFound: true}),
		"the name x.example could not be looked up (server misbehaving)":                 dial(&net.DNSError{Err: "server misbehaving", Name: "x.example"}),
		"connection refused, nothing listens on that port":                               dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
		"network is unreachable":                                                         dial(errors.New("network is unreachable")),
		"it did not answer in time":                                                      dial(os.ErrDeadlineExceeded),
		"the proxy cannot be reached: connection refused, nothing listens on that port":  &url.Error{Op: "Get", URL: "https://x.example/", Err: &net.OpError{Op: "proxyconnect", Net: "tcp", Err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}}},
		"the connection was reset":                                                       fmt.Errorf("read: %w", syscall.ECONNRESET),
		"the transfer ended too early":                                                   io.ErrUnexpectedEOF,
		"certificate has expired or is not yet valid: ":                                  &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}},
		"it does not speak TLS (plain_http in the settings allows a host to do without)": tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"},
		"its certificate is signed by an authority that this machine does not trust (ca_file in the settings can name one)": &tls.CertificateVerificationError{
			Err: x509.UnknownAuthorityError{}},
	} {
		if got := words(err); got != want {
			t.Errorf("words(%v) are\n%q, want\n%q", err, got, want)
		}
	}
}
