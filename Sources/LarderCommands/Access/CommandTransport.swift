internal import LarderCurl
internal import LarderHTTP

/// Creates the transport on libcurl with the settings of the command line.
enum CommandTransport {
  static func make(_ settings: ConnectionSettings) throws -> any HTTPTransport {
    var options = CurlTransport.Options()
    options.userAgent = settings.passesContent ? nil : "larder/\(CommandLineTool.version)"
    options.decodesContent = !settings.passesContent
    // A proxy opens a connection for each request of its clients, so that a slow client does not block another.
    if settings.passesContent { options.connectionLimitPerHost = 0 }
    if let file = settings.authorities { options.certificateAuthorities = [.file(file)] }
    if let file = settings.certificate {
      let isPKCS12 = [".p12", ".pfx"].contains { file.lowercased().hasSuffix($0) }
      options.clientCertificate = CurlTransport.ClientCertificate(
        certificate: .file(file), key: settings.key.map { .file($0) }, format: isPKCS12 ? .pkcs12 : .pem,
        passphrase: settings.passphrase)
    }
    return try CurlTransport(options)
  }
}
