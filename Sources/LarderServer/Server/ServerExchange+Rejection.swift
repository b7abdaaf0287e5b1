import CLarderMicroHTTPD
@_spi(Stores) import LarderCore
import LarderHTTP

// Requests that libmicrohttpd rejects on its own.
extension ServerExchange {
  /// Responds to a request that libmicrohttpd rejects before it calls the server: a head with an unreadable
  /// Content-Length, for which it sends the head of its response twice. libmicrohttpd first writes to its log, and this
  /// function then sends a response instead. libmicrohttpd's own response finds the connection ended.
  ///
  /// A request whose head is complete has been passed to ``handleHead(_:)`` already, except while that call runs.
  func rejectUndeliveredHead() {
    // Called for every log message: if the state is locked for a change, the message is not about this exchange.
    let isUndelivered =
      state.withLockIfAvailable { state in
        guard case .head = state.stage, !state.isStarted, !state.isRejected, handle.headSize > 0 else { return false }
        state.isRejected = true
        return true
      } ?? false
    guard isUndelivered else { return }
    var length = DeclaredContentLength()
    // The value stays in place during the iteration over the fields.
    unsafe withUnsafeMutablePointer(to: &length) { unsafe handle.forEachField($0, serverReadsContentLength) }
    let status =
      switch length {
      case .none: "431 Request Header Fields Too Large"
      case .number: "413 Content Too Large"
      case .malformed: "400 Bad Request"
      }
    sendRejection(status)
    connection.shut(.both)
  }

  /// Adds ``HTTPServer/Options/rejectionFields`` to a response that was not created by a responder.
  func addRejectionFields(to response: inout HTTPServerResponse) {
    for field in engine.options.rejectionFields { response.fields.append(field.name, field.value) }
  }

  /// Sends a response without content to the socket directly.
  func sendRejection(_ status: String) {
    var head = Array("HTTP/1.1 \(status)\r\nConnection: close\r\nContent-Length: 0\r\n".utf8)
    head.append(engine.options.rejectionFields)
    connection.send(head + Array("\r\n".utf8))
  }
}

extension [UInt8] {
  /// Appends the lines of header fields. Fields that delimit content are omitted, because the server writes them
  /// itself.
  mutating func append(_ fields: HTTPFields) {
    for field in fields where field.isValid && FramingField(field.name) == nil {
      self += Array("\(field.name): ".utf8) + field.bytes + Array("\r\n".utf8)
    }
  }
}

/// The kind of a head's first Content-Length.
private enum DeclaredContentLength {
  case none, number, malformed

  init() { self = .none }
}

private func serverReadsContentLength(
  _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameCount: Int,
  _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
  guard let length = unsafe context?.assumingMemoryBound(to: DeclaredContentLength.self) else { return .NO }
  let name = unsafe UnsafeRawBufferPointer(start: name, count: nameCount)
  guard unsafe name.elementsEqual("content-length".utf8, by: { $0 | 0x20 == $1 }) else { return .YES }
  let value = unsafe UnsafeRawBufferPointer(start: value, count: valueCount)
  let isNumber = unsafe !value.isEmpty && value.allSatisfy { (0x30...0x39).contains($0) }
  unsafe length.pointee = isNumber ? .number : .malformed
  return .NO
}
