import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The options with their files read and the environment looked up: the settings that are the same for all requests.
struct TransportSettings: Sendable {
  let options: CurlTransport.Options
  let proxies: ProxyChoice
  /// PEM of the extra CAs.
  let certificateAuthorities: [UInt8]?
  let certificate: [UInt8]?
  let key: [UInt8]?

  init(_ options: CurlTransport.Options, environment: [String: String]) throws(HTTPTransportError) {
    self.options = options
    proxies = ProxyChoice(options.proxy, environment: environment)
    var authorities: [UInt8] = []
    for credential in options.certificateAuthorities {
      let pem = try credential.read("CA certificate")
      guard String(decoding: pem, as: UTF8.self).contains("-----BEGIN") else {
        throw .invalidRequest("a CA certificate is not PEM")
      }
      authorities += pem + [0x0A]
    }
    certificateAuthorities = authorities.isEmpty ? nil : authorities
    certificate = try options.clientCertificate?.certificate.read("client certificate")
    let isPEM = options.clientCertificate?.format == .pem
    key = try options.clientCertificate?.key?.read("client key") ?? (isPEM ? certificate : nil)
    if let agent = options.userAgent, !HTTPField(name: .userAgent, value: agent).isValid {
      throw .invalidRequest("the user agent contains CR, LF or NUL")
    }
    if options.clientCertificate?.passphrase?.utf8.contains(0) ?? false {
      throw .invalidRequest("the client key's passphrase contains NUL")
    }
    guard (0...Int(Int32.max)).contains(options.connectionLimitPerHost) else {
      throw .invalidRequest("connectionLimitPerHost must be 0 or more")
    }
  }
}

extension CurlTransport.Credential {
  fileprivate func read(_ name: String) throws(HTTPTransportError) -> [UInt8] {
    let bytes: [UInt8]
    switch self {
    case .bytes(let given): bytes = given
    case .file(let path):
      guard let data = FileManager.default.contents(atPath: path) else {
        throw .invalidRequest("the \(name)'s file cannot be read: \(path)")
      }
      bytes = Array(data)
    }
    if bytes.isEmpty { throw .invalidRequest("the \(name) is empty") }
    return bytes
  }
}

/// Chooses the proxy for a URL. Exceptions are evaluated by libcurl, which knows names, addresses and networks.
struct ProxyChoice: Sendable, Equatable {
  private let http: String
  private let https: String
  /// The hosts that are reached directly, joined by commas.
  let exceptions: String

  init(_ proxy: CurlTransport.Proxy, environment: [String: String]) {
    switch proxy {
    case .none: (http, https, exceptions) = ("", "", "")
    case .url(let url, let except): (http, https, exceptions) = (url, url, except.joined(separator: ","))
    case .environment:
      let read = { (name: String) -> String? in
        let value = environment[name] ?? environment[name.uppercased()]
        return value.flatMap { $0.isEmpty ? nil : $0 }
      }
      let all = read("all_proxy") ?? ""
      let isCGI = environment["REQUEST_METHOD"] != nil
      http = (isCGI ? environment["http_proxy"] : read("http_proxy")) ?? all
      https = read("https_proxy") ?? all
      exceptions = read("no_proxy") ?? ""
    }
  }

  /// The proxy's URL; empty for none.
  func proxy(forScheme scheme: String?) -> String { scheme?.lowercased() == "https" ? https : http }
}
