public import LarderHTTP
public import LarderOData

/// The content of a request, independent of the form that the service's version requires.
public enum ODataRequestBody: Sendable {
  /// No content.
  case none
  /// An entity, for create and update. Links in it that have content are a deep insert. For an action, its parameters:
  /// those that are entities are links.
  case entity(ODataEntity)
  /// Only properties: the parameters of an action, or the one property that is updated.
  case properties([ODataProperty])
  /// A reference to an entity by its URL, absolute or relative to the service root.
  case reference(String)
  /// Bytes, sent unchanged.
  case bytes([UInt8], contentType: String)
  /// Bytes produced chunk by chunk. `open` starts from the beginning and is called again if the request is repeated.
  case stream(length: Int?, contentType: String, open: @Sendable () -> HTTPBodyStream)

  /// True if there is no content.
  package var isNone: Bool { if case .none = self { true } else { false } }
}
