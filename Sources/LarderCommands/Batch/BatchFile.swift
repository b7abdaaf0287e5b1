internal import LarderHTTP
internal import LarderOData
internal import LarderService

/// A batch from a file: recorded as multipart or JSON, or in the readable form of ``BatchText``.
struct BatchFile: Sendable {
  /// The content to send.
  let body: [UInt8]
  /// The media type, with the boundary of a multipart.
  let contentType: String
  /// The requests in the batch.
  let parts: [BatchRequestPart]

  /// The accepted media type of the response.
  var accept: String { contentType.hasPrefix("multipart") ? "multipart/mixed" : "application/json" }

  /// Reads a file. Recorded content is sent unchanged.
  init(_ bytes: [UInt8], root: ODataServiceRoot) throws {
    let bytes = Self.withoutByteOrderMark(bytes[...])
    let content = Self.withoutByteOrderMark(Self.content(Array(bytes)))
    let start = content.drop { $0 <= 0x20 }
    if start.first == UInt8(ascii: "{") {
      contentType = "application/json"
      body = Array(content)
      parts = try JSONBatchReader.requests(body)
    } else if start.starts(with: "--".utf8), !start.starts(with: "---".utf8) {
      let line = start.dropFirst(2).prefix { $0 != 0x0A && $0 != 0x0D }
      let boundary = String(decoding: line, as: UTF8.self).split(separator: " ").first ?? ""
      contentType = "multipart/mixed; boundary=\(Self.quoted(String(boundary)))"
      body = Array(start)
      parts = try MultipartBatchReader.requests(body, contentType: contentType)
    } else {
      parts = Self.named(try BatchText.read(Array(bytes)).map { try Self.part($0, root) })
      let boundary = "batch_\(UInt64.random(in: .min ... .max))"
      (contentType, body) = try MultipartBatchWriter.write(
        parts, boundary: boundary, contentIDs: .both, host: Self.host(root))
    }
    guard !parts.isEmpty else { throw BatchText.Problem(line: 1, reason: "the file contains no request") }
  }

  /// The bytes without the byte order mark of UTF-8, which editors put at the beginning of texts.
  private static func withoutByteOrderMark(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
  }

  /// The parts with a Content-ID for each request of a change set that has none: from V4 on it is required (Protocol
  /// 4.0 §11.7.2), and V2 services accept it. A batch with MERGE is left unchanged, because its service may not know
  /// Content-IDs.
  private static func named(_ parts: [BatchRequestPart]) -> [BatchRequestPart] {
    let given = Set(parts.flatMap(\.requests).compactMap(\.id))
    var last = 0
    return parts.map { part in
      guard case .changeSet(let requests) = part, !requests.contains(where: { $0.method == .merge }) else {
        return part
      }
      return .changeSet(
        requests.map { request in
          guard request.id == nil else { return request }
          var named = request
          repeat { last += 1 } while given.contains(String(last))
          named.id = String(last)
          return named
        })
    }
  }

  /// The content without the header of a recorded `POST …/$batch HTTP/1.1`.
  private static func content(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    let first = bytes.prefix { $0 != 0x0A }
    guard first.starts(with: "POST ".utf8), String(decoding: first, as: UTF8.self).contains(" HTTP/1.") else {
      return bytes[...]
    }
    var lineIsEmpty = false
    for index in bytes.indices.dropFirst(first.count) {
      switch bytes[index] {
      case 0x0A:
        if lineIsEmpty { return bytes[(index + 1)...] }
        lineIsEmpty = true
      case 0x0D: break
      default: lineIsEmpty = false
      }
    }
    return bytes[...]
  }

  private static func quoted(_ boundary: String) -> String {
    boundary.contains { "()<>@,;:\\/[]?= ".contains($0) } ? "\"\(boundary)\"" : boundary
  }

  private static func host(_ root: ODataServiceRoot) -> String {
    root.origin.text.firstRange(of: "://").map { String(root.origin.text[$0.upperBound...]) } ?? root.origin.host
  }

  private static func part(_ part: BatchText.Part, _ root: ODataServiceRoot) throws -> BatchRequestPart {
    switch part {
    case .single(let written): .single(try request(written, root))
    case .changeSet(let all): .changeSet(try all.map { try request($0, root) })
    }
  }

  private static func request(_ written: BatchText.Request, _ root: ODataServiceRoot) throws -> BatchRequest {
    var fields = written.fields
    fields.setDefault(.accept, RequestFields.accept(path: written.path))
    if !written.content.isEmpty { fields.setDefault(.contentType, ContentKind.mediaType(of: written.content)) }
    let id = fields[.contentID]
    fields[.contentID] = nil
    let absolute = try root.absoluteText(written.path)
    return BatchRequest(
      id: id, method: written.method, url: root.relative(absolute) ?? absolute, fields: fields, body: written.content)
  }
}
