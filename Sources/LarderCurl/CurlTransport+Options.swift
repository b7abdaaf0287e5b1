extension CurlTransport {
  /// The settings of a transport.
  ///
  /// Certificates are always checked: no option turns that off. To use a test server, trust its CA.
  public struct Options: Sendable {
    /// CA certificates to trust in addition to the system's own (PEM; one credential may contain several).
    public var certificateAuthorities: [Credential] = []
    /// The certificate that authenticates this client. It is shown to servers that ask for one, if
    /// `HTTPRequest.certificateAudience` allows it: to the service's origin, not to another after a redirect or for a
    /// link.
    public var clientCertificate: ClientCertificate?
    /// The proxy.
    public var proxy = Proxy.environment
    /// The most connections to one host at once; further requests wait for one. 0 is no limit.
    public var connectionLimitPerHost = 32
    /// The `User-Agent` of requests that do not set one; `nil` sends none.
    public var userAgent: String? = "Larder"
    /// Whether content codings are requested and decoded. False passes everything on as it is: for a proxy.
    public var decodesContent = true
    /// The newest version of HTTP to use.
    public var highestVersion = Version.http2

    /// Creates the default options: the system's CAs, no client certificate, the environment's proxy, HTTP/2 if the
    /// server supports it.
    public init() {}
  }

  /// A certificate or key: a file, or its bytes.
  public enum Credential: Sendable {
    /// The path of a file, which is read once when the transport is created.
    case file(String)
    /// The bytes themselves.
    case bytes([UInt8])
  }

  /// A client's certificate with its key.
  public struct ClientCertificate: Sendable, CustomDebugStringConvertible {
    /// The file format of certificate and key.
    public enum Format: Sendable {
      /// PEM: the certificate (and its chain) and the key, in one file or in two.
      case pem
      /// PKCS #12: certificate and key in one file.
      case pkcs12
    }

    /// The certificate.
    public var certificate: Credential
    /// The key; `nil` if it is in the same file as the certificate.
    public var key: Credential?
    /// The format of both.
    public var format: Format
    /// The passphrase that decrypts the key.
    public var passphrase: String?

    /// Creates a client certificate with its key.
    public init(certificate: Credential, key: Credential? = nil, format: Format = .pem, passphrase: String? = nil) {
      self.certificate = certificate
      self.key = key
      self.format = format
      self.passphrase = passphrase
    }

    /// Shows only the format: no key, no passphrase.
    public var debugDescription: String { "ClientCertificate(\(format))" }
  }

  /// How to reach the server.
  public enum Proxy: Sendable {
    /// The proxy that the environment names when the transport is created: `http_proxy`, `https_proxy`, `all_proxy` and
    /// `no_proxy`, or these names in capitals. `HTTP_PROXY` is not read in a CGI program (recognized by
    /// `REQUEST_METHOD`), where a client could set it.
    case environment
    /// This proxy, `http://host:port`, with `user:password@` if it needs that; not for the hosts in `except` (names
    /// with their subdomains, addresses, networks such as `10.0.0.0/8`, or `*`).
    case url(String, except: [String] = [])
    /// A direct connection to the server, whatever the environment says.
    case none
  }

  /// A version of HTTP.
  public enum Version: Sendable {
    /// Only HTTP/1.1.
    case http11
    /// HTTP/2 over TLS if the server offers it, HTTP/1.1 otherwise.
    case http2
  }
}
