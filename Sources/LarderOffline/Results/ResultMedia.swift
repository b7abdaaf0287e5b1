import LarderOData

/// What a store knows about a media entity's bytes or a named stream, without the bytes themselves.
struct ResultMedia: Sendable, Hashable {
  var contentType: String?
  var etag: String?
  var readLink: String?
  var editLink: String?
  /// Whether the service gives only a link for reading.
  var isReadOnly = false

  init(contentType: String? = nil, etag: String? = nil, readLink: String? = nil, editLink: String? = nil) {
    (self.contentType, self.etag, self.readLink, self.editLink) = (contentType, etag, readLink, editLink)
  }

  /// Reads a column of ``SystemColumn/media`` or ``ColumnStorage/stream``.
  init(_ node: JSONNode) {
    contentType = node["contentType"]?.string
    etag = node["etag"]?.string
    readLink = node["readLink"]?.string
    editLink = node["editLink"]?.string
    isReadOnly = node["isReadOnly"] == .boolean(true)
  }

  /// Writes the V4 control information, `mediaContentType` and others, of the entity or of a property (JSON Format 4.01
  /// §4.6.14).
  func write(_ form: ResultForm, on property: String, into out: inout ResultBytes) {
    guard form.metadata != .none else { return }
    for (name, value) in [
      ("mediaReadLink", readLink), ("mediaEditLink", editLink), ("mediaContentType", contentType), ("mediaEtag", etag),
    ] {
      guard let value else { continue }
      out.string(property + form.control + name)
      out.append(UInt8(ascii: ":"))
      out.string(value)
      out.append(UInt8(ascii: ","))
    }
  }

  /// Writes the V2 form, in `__metadata`, where the URL of the bytes is required.
  func writeVerbose(at url: String, into out: inout ResultBytes) {
    for (name, value) in [
      ("media_src", readLink ?? url + "/$value"), ("edit_media", editLink ?? url + "/$value"),
      ("content_type", contentType), ("media_etag", etag),
    ] {
      guard let value else { continue }
      out.append("\"\(name)\":")
      out.string(value)
      out.append(UInt8(ascii: ","))
    }
  }
}
