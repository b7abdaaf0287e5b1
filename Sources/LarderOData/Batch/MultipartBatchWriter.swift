import LarderHTTP

/// Writes a `$batch` request as `multipart/mixed`, part by part (OData Protocol 4.01 §11.7.7; V2 Batch Processing
/// §2.2).
///
/// Send ``contentType`` with it. Each call returns the bytes to send next; ``finish()`` returns the last ones.
package struct MultipartBatchWriter: Sendable {
  /// Where a request's Content-ID is written.
  package enum ContentIDPlacement: Sendable, Hashable {
    /// In the MIME part's header: V4.
    case part
    /// Among the request's own header fields, where V2 and V3 services read it.
    case request
    /// In both places.
    case both
  }

  private let boundary: String
  private let host: String?
  private let placement: ContentIDPlacement
  private var parts = 0
  private var changeSets = 0

  /// Starts a batch.
  ///
  /// - Parameters:
  ///   - boundary: 1 to 50 letters, digits, `-`, `_` or `.` that occur in no content; best chosen at random.
  ///   - contentIDs: where Content-IDs are written.
  ///   - host: the Host of host-relative URLs, for requests that do not carry one.
  package init(boundary: String, contentIDs: ContentIDPlacement, host: String? = nil) throws(BatchError) {
    guard MediaType.isWritableBoundary(boundary) else { throw BatchError(.badBoundary(boundary)) }
    self.boundary = boundary
    self.host = host
    placement = contentIDs
  }

  /// The batch's own Content-Type.
  package var contentType: String { "multipart/mixed; boundary=\(boundary)" }

  /// Writes one part.
  package mutating func write(_ part: BatchRequestPart) throws(BatchError) -> [UInt8] {
    parts += 1
    var bytes: [UInt8] = []
    bytes.append(line: "--" + boundary)
    switch part {
    case .single(let request):
      try write(request, place: "\(parts)", into: &bytes)
    case .changeSet(let requests):
      changeSets += 1
      // The outer boundary is not a prefix of this one, because some readers compare only the prefix.
      let inner = "changeset_\(changeSets)_\(boundary)"
      bytes.append(line: "Content-Type: multipart/mixed; boundary=\(inner)")
      bytes.append(line: "")
      for (index, request) in requests.enumerated() {
        let place = "\(parts).\(index + 1)"
        guard request.method != .get, request.method != .head else {
          throw BatchError(
            .invalidRequest("a change set cannot contain reads; put it outside the change set"), part: place)
        }
        bytes.append(line: "--" + inner)
        try write(request, place: place, into: &bytes)
      }
      bytes.append(line: "--\(inner)--")
    }
    return bytes
  }

  /// Ends the batch.
  package func finish() -> [UInt8] { Array("--\(boundary)--\r\n".utf8) }

  /// Writes a whole batch.
  package static func write(
    _ parts: [BatchRequestPart], boundary: String, contentIDs: ContentIDPlacement, host: String? = nil
  ) throws(BatchError) -> (contentType: String, body: [UInt8]) {
    var writer = try MultipartBatchWriter(boundary: boundary, contentIDs: contentIDs, host: host)
    var body: [UInt8] = []
    for part in parts { body.append(contentsOf: try writer.write(part)) }
    body.append(contentsOf: writer.finish())
    return (writer.contentType, body)
  }

  private func write(_ request: BatchRequest, place: String, into bytes: inout [UInt8]) throws(BatchError) {
    let fields = try fields(of: request, place: place)
    bytes.append(line: "Content-Type: application/http")
    bytes.append(line: "Content-Transfer-Encoding: binary")
    if let id = request.id, placement != .request { bytes.append(line: "Content-ID: \(id)") }
    bytes.append(line: "")
    bytes.append(line: "\(request.method) \(request.url) HTTP/1.1")
    for field in fields { bytes.append(line: "\(field.name): \(field.value)") }
    bytes.append(line: "")
    bytes.append(contentsOf: request.body)
    bytes.append(line: "")
  }

  /// Returns the fields to write, after checking that the request cannot break out of its lines and its part.
  private func fields(of request: BatchRequest, place: String) throws(BatchError) -> HTTPFields {
    func invalidRequest(_ what: String) -> BatchError { BatchError(.invalidRequest(what), part: place) }
    guard HTTPFieldName(request.method.rawValue).isValid else { throw invalidRequest("its method is not a token") }
    guard !request.url.isEmpty, request.url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw invalidRequest("its URL is empty or not percent-encoded")
    }
    if let id = request.id, !HTTPField(name: .contentID, value: id).isValid || id.isEmpty {
      throw invalidRequest("its id is empty or contains a line break")
    }
    if let field = request.fields.first(where: { !$0.isValid }) {
      throw invalidRequest("the header field '\(field.name)' has a name or value that breaks its line")
    }
    guard !request.body.contains(text: "--" + boundary), !request.body.contains(text: "_\(boundary)") else {
      throw invalidRequest("its content contains the boundary; choose another boundary")
    }
    guard request.dependsOn.isEmpty, request.condition == nil else {
      throw invalidRequest("dependsOn and if exist in the JSON format only")
    }
    var fields = request.fields
    if let id = request.id, placement != .part { fields[.contentID] = id } else { fields[.contentID] = nil }
    if request.url.hasPrefix("/"), !fields.contains("Host") {
      guard let host else { throw invalidRequest("a host-relative URL needs a Host field") }
      fields["Host"] = host
    }
    if !request.body.isEmpty { fields[.contentLength] = String(request.body.count) }
    return fields
  }
}

extension [UInt8] {
  fileprivate mutating func append(line: String) {
    append(contentsOf: line.utf8)
    append(0x0D)
    append(0x0A)
  }

  fileprivate func contains(text: String) -> Bool {
    let needle = Array(text.utf8)
    guard let first = needle.first, count >= needle.count else { return false }
    var index = 0
    while index <= count - needle.count {
      if self[index] == first, self[index..<index + needle.count].elementsEqual(needle) { return true }
      index += 1
    }
    return false
  }
}
