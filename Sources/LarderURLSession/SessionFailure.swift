import Foundation
import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension HTTPTransportError {
  /// Converts an error of URLSession.
  ///
  /// - Parameter hasHead: whether the response had begun. Then an error that is not listed below means that the
  ///   connection was lost in the content.
  init(sessionError error: any Error, host: String, hasHead: Bool) {
    guard let error = error as? URLError else {
      self = .other("\(error)")
      return
    }
    let reason = error.localizedDescription
    switch error.code {
    case .cancelled: self = .cancelled
    case .timedOut: self = .timeout(phase: "idle")
    case .cannotFindHost, .dnsLookupFailed: self = .hostNotFound(host: host)
    case .cannotConnectToHost, .notConnectedToInternet, .internationalRoamingOff, .dataNotAllowed:
      self = .cannotConnect(host: host, reason: reason)
    case .networkConnectionLost: self = .connectionLost(reason: reason)
    case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
      .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
      self = .tls(host: host, reason: reason)
    case .badServerResponse, .cannotParseResponse, .cannotDecodeContentData, .cannotDecodeRawData, .zeroByteResource:
      self = .protocolViolation(reason)
    case .badURL, .unsupportedURL, .requestBodyStreamExhausted: self = .invalidRequest(reason)
    case .unknown where SessionFailureText.isTLSFailure(reason): self = .tls(host: host, reason: reason)
    default: self = hasHead ? .connectionLost(reason: reason) : .other("\(reason) (URLError \(error.code.rawValue))")
    }
  }
}

private enum SessionFailureText {
  /// Foundation on Linux has no code for certificates that fail, only the message of the underlying library. If that
  /// message changes, the error is the less precise `other`.
  static func isTLSFailure(_ reason: String) -> Bool { reason.contains("SSL") || reason.contains("certificate") }
}
