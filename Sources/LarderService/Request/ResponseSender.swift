import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The URL that sent a response, which may be that of a redirect.
package enum ResponseSender: Sendable, Hashable {
  /// The requested URL.
  case requested
  /// Another URL of the same origin, or the same URL with `https` instead of `http`. Its content may be stored as that of the
  /// requested URL; its status says nothing about the requested one.
  case sameOrigin(String)
  /// A URL of another origin, such as a captive portal or a log-in service. Its content is not stored as that of the
  /// requested URL.
  case otherOrigin(String)

  /// - Parameter sender: the URL after redirects.
  init(_ sender: URL, requested: URL) {
    let text = sender.absoluteString
    if text == requested.absoluteString {
      self = .requested
    } else {
      self = HTTPRedirection.mayAnswer(for: requested, sender) ? .sameOrigin(text) : .otherOrigin(text)
    }
  }

  /// The URL of the sender; nil if it is the requested one.
  package var url: String? {
    switch self {
    case .requested: nil
    case .sameOrigin(let url), .otherOrigin(let url): url
    }
  }

  /// Whether another origin sent the response.
  package var isOtherOrigin: Bool { if case .otherOrigin = self { true } else { false } }
}

extension ODataServiceError {
  /// Whether the requested URL itself sent the response, so that its status says something about the resource.
  package var isOfRequestedURL: Bool { response.map { $0.sender == .requested } ?? true }
}
