// Package image reads the OCI documents that stand between a version tag and a
// file on disk: the index, the manifests that it lists, and what a plugin image
// declares in their annotations. It works on bytes that somebody else fetched
// or stored, does no input or output, and checks everything it returns.
//
// Start at [Parse]; [Index.Offers] lists what a user can install and
// [Document.Declaration] what a plugin image promises about it.
package image

// AnnotationPrefix begins every annotation of ours. It is a working name that
// stands only here.
const AnnotationPrefix = "dev.pluginlock"

// The annotations of a plugin image, format 1.
const (
	AnnotationFormat           = AnnotationPrefix + ".format"            // index, manifest: "1"
	AnnotationSource           = AnnotationPrefix + ".source"            // index, optional: where it was pushed to
	AnnotationProtocols        = AnnotationPrefix + ".protocols"         // index, manifest: "5,6"
	AnnotationExecutablePath   = AnnotationPrefix + ".executable.path"   // manifest: "plugin/aws"
	AnnotationExecutableDigest = AnnotationPrefix + ".executable.digest" // manifest: "sha256:…"
	AnnotationContent          = AnnotationPrefix + ".content"           // manifest: digest of the payload's records
	AnnotationRole             = AnnotationPrefix + ".role"              // layer descriptor: RolePayload, RoleLauncher
)

// Values of annotations.
const (
	Format       = "1"
	RolePayload  = "payload"
	RoleLauncher = "launcher"
	PayloadDir   = "plugin" // every file of a payload lies below it
)

// Media types of the documents that are understood: OCI's and Docker's.
const (
	MediaTypeOCIIndex       = "application/vnd.oci.image.index.v1+json"
	MediaTypeOCIManifest    = "application/vnd.oci.image.manifest.v1+json"
	MediaTypeOCIConfig      = "application/vnd.oci.image.config.v1+json"
	MediaTypeOCILayer       = "application/vnd.oci.image.layer.v1.tar"
	MediaTypeOCILayerGzip   = "application/vnd.oci.image.layer.v1.tar+gzip"
	MediaTypeOCILayerZstd   = "application/vnd.oci.image.layer.v1.tar+zstd"
	MediaTypeDockerIndex    = "application/vnd.docker.distribution.manifest.list.v2+json"
	MediaTypeDockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	MediaTypeDockerConfig   = "application/vnd.docker.container.image.v1+json"
	MediaTypeDockerLayer    = "application/vnd.docker.image.rootfs.diff.tar.gzip"
)

// Accept names the documents that are understood, for the header of that name:
// registries convert documents, or hide them, for clients that name too little.
const Accept = MediaTypeOCIIndex + ", " + MediaTypeOCIManifest + ", " + MediaTypeDockerIndex + ", " + MediaTypeDockerManifest

// MaxDocumentSize bounds an index, a manifest or a config, in bytes; it is the
// size that registries must accept by the distribution specification, v1.1.1.
const MaxDocumentSize = 4 << 20
