import CLarderMicroHTTPD
import LarderCore
import LarderHTTP

// Requests that libmicrohttpd refuses by itself.
extension Exchange {
  /// libmicrohttpd refuses a head with a Content-Length that it cannot read before anybody is asked, and sends the head of
  /// its answer twice. It speaks of it in its log before, and this answers in its place; its own answer then finds the
  /// connection ended.
  ///
  /// A request whose head is whole has been handed to ``handleHead(_:)`` already, except while that happens.
  func answerUnheard() {
    // Called for whatever libmicrohttpd logs: where the state is being changed, it is not about this exchange.
    let isUnheard =
      state.withLockIfAvailable { state in
        guard case .head = state.stage, !state.isStarted, !state.isRefused, handle.headSize > 0 else { return false }
        state.isRefused = true
        return true
      } ?? false
    guard isUnheard else { return }
    var length = DeclaredContentLength()
    // The value stays in place while the fields are walked through.
    unsafe withUnsafeMutablePointer(to: &length) { unsafe handle.forEachField($0, serverSeeksLength) }
    let answer =
      switch length {
      case .none: "431 Request Header Fields Too Large"
      case .number: "413 Content Too Large"
      case .malformed: "400 Bad Request"
      }
    sendRefusal(answer)
    connection.shut(.both)
  }

  /// Adds ``HTTPServer/Options/refusalFields`` to a response that no responder has made.
  func addRefusalFields(to response: inout HTTPServerResponse) {
    for field in engine.options.refusalFields { response.fields.append(field.name, field.value) }
  }

  /// Sends a response without content to the socket directly.
  func sendRefusal(_ status: String) {
    var head = Array("HTTP/1.1 \(status)\r\nConnection: close\r\nContent-Length: 0\r\n".utf8)
    head.append(engine.options.refusalFields)
    connection.send(head + Array("\r\n".utf8))
  }
}

extension [UInt8] {
  /// Appends the lines of header fields; those that delimit content are left out, for the server writes them itself.
  mutating func append(_ fields: HTTPFields) {
    for field in fields where field.isValid && FramingField(field.name) == nil {
      self += Array("\(field.name): ".utf8) + field.bytes + Array("\r\n".utf8)
    }
  }
}

/// What the first Content-Length of a head is.
private enum DeclaredContentLength {
  case none, number, malformed

  init() { self = .none }
}

private func serverSeeksLength(
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
