import CLarderMicroHTTPD
@_spi(Stores) import LarderCore
@_spi(Stores) import LarderHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// Sends a response, on the connection's thread.
extension ServerExchange {
  /// Content up to this size is copied to libmicrohttpd and sent with the head in one call; larger content is sent in
  /// pieces.
  private static let copyLimit = 64 << 10
  private static let pieceSize = 64 << 10

  /// The maximum size of the status line, the framing and libmicrohttpd's own fields in a head.
  private static let reservedHeadSize = 1 << 10

  /// The size of fields in a head.
  private static func headSize(_ fields: HTTPFields) -> Int {
    var size = 0
    for field in fields { size += field.name.rawName.utf8.count + field.value.utf8.count + 4 }
    return size
  }

  /// Passes a response to libmicrohttpd. Returns false if libmicrohttpd rejects it; the connection must be closed then.
  func queue(_ response: HTTPServerResponse, on pointer: OpaquePointer, isHead: Bool) -> Bool {
    var response = response
    if !(200...999).contains(response.status) {
      response.replace(status: 500, "The responder returned no final status.\n")
      addRejectionFields(to: &response)
    }
    // libmicrohttpd would close the connection without a response.
    if ServerExchange.headSize(response.fields) > engine.options.headByteLimit - ServerExchange.reservedHeadSize {
      response.replace(status: 502, "The head of the response is larger than this server forwards.\n")
      addRejectionFields(to: &response)
    }
    state.withLock { $0.status = response.status }
    guard let mhdResponse = unsafe createResponse(response, isHead: isHead) else { return false }
    // Releases the reference from the creation; queueing takes another one.
    defer { unsafe MHD_destroy_response(mhdResponse) }
    unsafe addFields(response.fields, to: mhdResponse)
    return unsafe MHD_queue_response(pointer, UInt32(response.status), mhdResponse) == .YES
  }

  private func createResponse(_ response: HTTPServerResponse, isHead: Bool) -> OpaquePointer? {
    if isHead || response.status == 304 || response.status == 204 {
      return unsafe createResponseWithoutContent(response)
    }
    switch response.body {
    case .none:
      begin(OutgoingContent(), response.onEnd)
      return unsafe ServerExchange.empty()
    case .bytes(let bytes) where bytes.count <= ServerExchange.copyLimit:
      begin(OutgoingContent(bufferedByMHD: bytes.count), response.onEnd)
      // The bytes are copied during the call; libmicrohttpd does not write to them.
      return unsafe bytes.withUnsafeBytes { bytes in
        unsafe larder_mhd_response(bytes.baseAddress, bytes.count)
      }
    case .bytes(let bytes):
      return unsafe createReadingResponse(OutgoingContent(bytes), length: bytes.count, response.onEnd)
    case .stream(let stream):
      if stream.length == 0 {
        stream.cancel()
        begin(OutgoingContent(), response.onEnd)
        return unsafe ServerExchange.empty()
      }
      return unsafe createReadingResponse(
        OutgoingContent(stream, length: stream.length), length: stream.length, response.onEnd)
    }
  }

  /// Sets the content that is sent from now on; an exchange has one response.
  private func begin(_ content: OutgoingContent, _ onEnd: (@Sendable (HTTPServerResponse.End) -> Void)?) {
    _ = state.withLock { state in
      (exchange(&state.outgoing, with: content), exchange(&state.onEnd, with: onEnd))
    }
  }

  private static func empty() -> OpaquePointer? {
    unsafe larder_mhd_response(nil, 0)
  }

  /// Creates a response without content. It contains the length that the content would have had, if that is known (RFC
  /// 9110 §8.6). If it is unknown, libmicrohttpd can omit the length only by ending the connection.
  private func createResponseWithoutContent(_ response: HTTPServerResponse) -> OpaquePointer? {
    var length = response.fields[.contentLength].flatMap { Int($0) }
    switch response.body {
    case .none: break
    case .bytes(let bytes): if !bytes.isEmpty { length = bytes.count }
    case .stream(let stream):
      // If a response has no content, only the field has the length.
      length = length ?? stream.length.flatMap { $0 > 0 ? $0 : nil }
      stream.cancel()
    }
    if response.status == 204 {
      begin(OutgoingContent(), response.onEnd)
      return unsafe ServerExchange.empty()
    }
    let mhdResponse = unsafe createReadingResponse(OutgoingContent(), length: length, response.onEnd)
    if let mhdResponse = unsafe mhdResponse, length == nil { unsafe larder_mhd_ends_connection(mhdResponse) }
    return unsafe mhdResponse
  }

  private func createReadingResponse(
    _ content: OutgoingContent, length: Int?, _ onEnd: (@Sendable (HTTPServerResponse.End) -> Void)?
  ) -> OpaquePointer? {
    begin(content, onEnd)
    // Content without a length is read into libmicrohttpd's own buffer.
    let size = length.map { min(max($0, 1), ServerExchange.pieceSize) } ?? 4096
    let total = length.flatMap { UInt64(exactly: $0) } ?? UInt64.max
    // The response retains the exchange until it calls serverReleasesContent.
    let context = unsafe Unmanaged.passRetained(self).toOpaque()
    let mhdResponse = unsafe MHD_create_response_from_callback(
      total, size, serverReadsContent, context, serverReleasesContent)
    if unsafe mhdResponse == nil { unsafe Unmanaged<ServerExchange>.fromOpaque(context).release() }
    return unsafe mhdResponse
  }

  private func addFields(_ fields: HTTPFields, to response: OpaquePointer) {
    var closes = engine.isStopping
    for field in fields {
      switch FramingField(field.name) {
      case .connection: if field.value.lowercased().contains("close") { closes = true }
      case .dropped: continue
      case nil: unsafe ServerExchange.add(field, to: response)
      }
    }
    if closes { unsafe _ = MHD_add_response_header(response, "Connection", "close") }
  }

  /// Adds a field. A field with an invalid name, or with a value that could end its line, is omitted. Other control
  /// characters, which a value must not contain, become spaces (RFC 9110 §5.5), and so does the tab, which
  /// libmicrohttpd rejects.
  private static func add(_ field: HTTPField, to response: OpaquePointer) {
    // libmicrohttpd accepts no empty value; white space around a value has no meaning.
    if field.value.isEmpty { return unsafe add(field.name, " ", to: response) }
    if field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
      return unsafe add(field.name, field.value, to: response)
    }
    guard field.isValid else { return }
    let text = field.bytes.map { CChar(bitPattern: $0 < 0x20 || $0 == 0x7F ? 0x20 : $0) } + [0]
    unsafe _ = MHD_add_response_header(response, field.name.rawName, text)
  }

  /// Adds a value of visible ASCII and spaces, if the name is a token.
  private static func add(_ name: HTTPFieldName, _ value: String, to response: OpaquePointer) {
    guard !name.rawName.isEmpty, name.rawName.utf8.allSatisfy(HTTPFieldName.isTokenByte) else { return }
    // libmicrohttpd copies both. Passing the texts as arguments would copy them once more.
    unsafe name.rawName.withCString { name in
      unsafe value.withCString { unsafe _ = MHD_add_response_header(response, name, $0) }
    }
  }

  /// Fills libmicrohttpd's buffer, or suspends the connection until there is content.
  func readContent(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    while true {
      let reading = state.withLock { state -> OutgoingContent.Reading in
        if state.isAborted || engine.isClosing { return .failure }
        return unsafe state.outgoing.read(into: buffer)
      }
      switch reading {
      case .bytes(let count): return count
      case .end: return Int(larder_mhd_end_of_stream)
      case .failure: return Int(larder_mhd_end_with_error)
      case .pull(let iterator): pull(iterator)
      case .pulling: break
      }
      let isSuspended = state.withLock { state -> Bool? in
        guard state.outgoing.isPulling else { return false }
        if case .close = suspend(&state) { return nil }
        return true
      }
      guard let isSuspended else { return Int(larder_mhd_end_with_error) }
      if isSuspended { return 0 }
    }
  }

  /// Fetches the next piece. If the stream has it already, it is delivered before this returns.
  private func pull(_ iterator: HTTPBodyStream.Iterator) {
    let task = Task.immediate {
      var iterator = iterator
      do { deliver(.success(try await iterator.next())) } catch { deliver(.failure(error)) }
    }
    let isOver = state.withLock { state in
      if state.outgoing.isPulling { state.task = task }
      return state.isAborted || state.stage == .over
    }
    // Cancel without the lock: a cancellation handler may take it.
    if isOver { task.cancel() }
  }

  private func deliver(_ piece: Result<[UInt8]?, any Error>) {
    _ = state.withLock { state in
      let finishedTask = state.task.take()
      state.outgoing.deliver(piece)
      resume(&state)
      return finishedTask
    }
  }
}

/// Fields of the connection, which the server sends itself (RFC 9110 §7.6.1).
enum FramingField {
  case connection, dropped

  init?(_ name: HTTPFieldName) {
    let text = name.canonicalName
    switch text.utf8.count {
    case 2 where text == "te", 7 where text == "trailer" || text == "upgrade", 10 where text == "keep-alive",
      14 where text == "content-length", 16 where text == "proxy-connection", 17 where text == "transfer-encoding":
      self = .dropped
    case 10 where text == "connection": self = .connection
    default: return nil
    }
  }
}
