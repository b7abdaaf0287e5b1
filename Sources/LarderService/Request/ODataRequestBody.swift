public import LarderHTTP
public import LarderOData

/// The content of a request, before the version of the service gives it its form.
public enum ODataRequestBody: Sendable {
  /// No content.
  case none
  /// An entity: for create and update; links in it with content are a deep insert.
  case entity(ODataEntity)
  /// Properties alone: the parameters of an action, or the one property that is updated.
  case properties([ODataProperty])
  /// A reference to an entity by its URL, absolute or relative to the service root.
  case reference(String)
  /// Bytes as they are.
  case bytes([UInt8], contentType: String)
  /// Bytes made chunk by chunk; `open` starts from the beginning and may be called again where the request is repeated.
  case stream(length: Int?, contentType: String, open: @Sendable () -> HTTPBodyStream)

  /// True where there is no content.
  public var isNone: Bool { if case .none = self { true } else { false } }
}
