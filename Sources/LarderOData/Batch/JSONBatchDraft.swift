import LarderCore
import LarderHTTP

/// Collects the members of one item, in whatever order they come.
struct JSONBatchDraft {
  var id: String?
  var group: String?
  var method: String?
  var url: String?
  var condition: String?
  var dependsOn: [String] = []
  var status: Int?
  var fields = HTTPFields()
  /// The bytes of the content, as written in the JSON text.
  var body: [UInt8] = []
  /// The content's text if it is a string.
  var bodyText: [UInt8]?
  var isNull = false

  /// The content's bytes (JSON Format 4.01 §19.1). The headers may follow the content, so they are known only at the
  /// item's end.
  func content() throws(BatchError.Problem) -> [UInt8] {
    if isNull { return [] }
    let type = MediaType(fields[.contentType] ?? "application/json")
    guard let text = bodyText, !type.isJSON else { return body }
    if type.mediaType.hasPrefix("text/") { return text }
    guard let bytes = text.withUnsafeBufferPointer({ Base64.decode($0) }) else {
      throw .malformedJSON("the content of type '\(type.mediaType)' is not base64url")
    }
    return bytes
  }
}
