package getter

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// words says what an error of the connection means, in place of the chain of
// function names that Go's errors are. What it does not know it leaves alone.
func words(err error) string {
	err = withoutURL(err)
	var dns *net.DNSError
	var authority x509.UnknownAuthorityError
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "proxyconnect" {
		return "the proxy cannot be reached: " + words(op.Err)
	}
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the name " + dns.Name + " is not known to the name server"
	case errors.As(err, &dns):
		return "the name " + dns.Name + " could not be looked up (" + dns.Err + ")"
	case errors.As(err, &authority):
		return "its certificate is signed by an authority that this machine does not trust (ca_file in the settings can name one)"
	case isPlainAnswer(err):
		return "it does not speak TLS (plain_http in the settings allows a host to do without)"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused, nothing listens on that port"
	case errors.Is(err, syscall.ECONNRESET):
		return "the connection was reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the transfer ended too early"
	case errors.As(err, &op) && op.Timeout():
		return "it did not answer in time"
	case errors.As(err, &op) && op.Op == "dial" && op.Err != nil:
		return op.Err.Error()
	}
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "tls: failed to verify certificate: "), "x509: ")
}

// isPlainAnswer recognises plain HTTP where TLS was expected; net/http has no
// type for it.
func isPlainAnswer(err error) bool {
	var header tls.RecordHeaderError
	return errors.As(err, &header) || strings.Contains(err.Error(), "HTTP response to HTTPS client")
}
