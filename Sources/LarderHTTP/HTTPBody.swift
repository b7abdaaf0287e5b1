/// The content of a request.
public enum HTTPBody: Sendable {
  /// No content.
  case none
  /// Content in memory, which can be sent again.
  case bytes([UInt8])
  /// Content produced chunk by chunk, so that it is never in memory as a whole.
  ///
  /// `length` is in bytes, if known; content of another length fails the request. `open` starts the content from its
  /// beginning. It may be called again if the request has to be repeated (redirect, authentication, retry).
  case stream(length: Int?, open: @Sendable () -> HTTPBodyStream)

  /// The content's length in bytes; `nil` if it is not known.
  public var length: Int? {
    switch self {
    case .none: 0
    case .bytes(let bytes): bytes.count
    case .stream(let length, _): length
    }
  }

  /// The UTF-8 bytes of a text as content.
  public static func text(_ text: String) -> HTTPBody { .bytes(Array(text.utf8)) }
}

extension HTTPBody: CustomReflectable {
  /// Shows the content's length instead of its bytes.
  public var customMirror: Mirror {
    switch self {
    case .none: Mirror(self, children: [], displayStyle: .enum)
    case .bytes(let bytes): Mirror(self, children: ["bytes": ByteCount(bytes)], displayStyle: .enum)
    case .stream(let length, _): Mirror(self, children: ["stream": length as Any], displayStyle: .enum)
    }
  }
}
