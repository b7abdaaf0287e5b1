extension CurlTransport {
  /// How a transport connects.
  ///
  /// There is no switch that turns the check of certificates off; trust a test server by its CA.
  public struct Options: Sendable {
    /// CA certificates (PEM, several in one are fine) trusted beside the system's own.
    public var certificateAuthorities: [Credential] = []
    /// The certificate that says who this client is. Shown to servers that ask for one, where
    /// `HTTPRequest.certificateAudience` allows it: to the service's origin, not to another after a redirect or for a link.
    public var clientCertificate: ClientCertificate?
    /// The way through a proxy.
    public var proxy = Proxy.environment
    /// Connections to one host at once; further requests wait for one. 0 is without limit.
    public var maximumConnectionsPerHost = 32
    /// The `User-Agent` of requests that bring none; `nil` sends none.
    public var userAgent: String? = "Larder"
    /// Whether content codings are asked for and undone. False hands everything on as it is: for a proxy.
    public var decodesContent = true
    /// The newest version of HTTP to speak.
    public var highestVersion = Version.http2

    /// The defaults: the system's CAs, no client certificate, the environment's proxy, HTTP/2 where the server has it.
    public init() {}
  }

  /// A certificate or key: where its bytes are.
  public enum Credential: Sendable {
    /// The path of a file, read once when the transport is made.
    case file(String)
    /// The bytes themselves.
    case bytes([UInt8])
  }

  /// A client's certificate with its key.
  public struct ClientCertificate: Sendable, CustomDebugStringConvertible {
    /// How certificate and key are written.
    public enum Format: Sendable {
      /// PEM: the certificate (and its chain), and the key, in one file or in two.
      case pem
      /// PKCS #12: certificate and key in one.
      case pkcs12
    }

    /// The certificate.
    public var certificate: Credential
    /// The key; `nil` where it stands with the certificate.
    public var key: Credential?
    /// How both are written.
    public var format: Format
    /// What decrypts the key.
    public var passphrase: String?

    /// A certificate with its key.
    public init(certificate: Credential, key: Credential? = nil, format: Format = .pem, passphrase: String? = nil) {
      self.certificate = certificate
      self.key = key
      self.format = format
      self.passphrase = passphrase
    }

    /// Tells the format alone: no key, no passphrase.
    public var debugDescription: String { "ClientCertificate(\(format))" }
  }

  /// The way to the server.
  public enum Proxy: Sendable {
    /// The proxy that the environment names when the transport is created: `http_proxy`, `https_proxy`, `all_proxy` and
    /// `no_proxy`, or these names in capitals. `HTTP_PROXY` is not read in a CGI program (recognized by
    /// `REQUEST_METHOD`), where a client could set it.
    case environment
    /// This proxy, `http://host:port`, with `user:password@` where it wants that; not for the hosts in `except` (names
    /// with their subdomains, addresses, networks such as `10.0.0.0/8`, or `*`).
    case url(String, except: [String] = [])
    /// Straight to the server, whatever the environment says.
    case none
  }

  /// A version of HTTP.
  public enum Version: Sendable {
    /// HTTP/1.1 alone.
    case http11
    /// HTTP/2 over TLS where the server offers it, HTTP/1.1 otherwise.
    case http2
  }
}
