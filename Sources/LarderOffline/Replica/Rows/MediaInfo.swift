import LarderOData

/// What a payload says about the bytes of a media entity or stream property.
struct MediaInfo {
  var contentType: String?
  var etag: String?
  var readLink: String?
  var editLink: String?
  /// Whether the service gives only a link for reading.
  var isReadOnly = false

  /// What is stored of the payload's information.
  ///
  /// - Parameter isFull: whether the payload has full metadata, so that a link which is absent does not exist.
  func stored(isFull: Bool) -> MediaInfo {
    var info = self
    info.isReadOnly = isFull && readLink != nil && editLink == nil
    return info
  }

  /// Takes control information about media. Returns false for other information.
  mutating func consume(_ information: ControlInformation, _ scalar: PayloadScalar) -> Bool {
    let text = scalar.isNull ? nil : scalar.string
    switch information {
    case .mediaContentType: contentType = text
    case .mediaETag: etag = text
    case .mediaReadLink: readLink = text
    case .mediaEditLink: editLink = text
    default: return false
    }
    return true
  }

  var json: String {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in [
      ("contentType", contentType), ("etag", etag), ("readLink", readLink), ("editLink", editLink),
    ] {
      guard let value else { continue }
      writer.name(name)
      writer.string(value)
    }
    if isReadOnly {
      writer.name("isReadOnly")
      writer.boolean(true)
    }
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
