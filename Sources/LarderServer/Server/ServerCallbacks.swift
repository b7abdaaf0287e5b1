import CLarderMicroHTTPD
import LarderHTTP
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// The functions that libmicrohttpd calls, on the threads of its daemons. They are plain functions, because the compiler
// could assign a closure to an actor. `context` is the engine, which outlives its daemons.

private func engine(_ context: UnsafeMutableRawPointer?) -> ServerEngine? {
  unsafe context.map { unsafe Unmanaged<ServerEngine>.fromOpaque($0).takeUnretainedValue() }
}

/// Called when a connection begins or ends. The connection retains the ``ClientConnection`` in between.
func serverNotesConnection(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_ConnectionNotificationCode
) {
  guard let engine = unsafe engine(context), let connection = unsafe connection, let slot = unsafe slot else { return }
  if larder_mhd_is_started(code) != 0 {
    guard let client = unsafe engine.connections[larder_mhd_descriptor(connection)] else { return }
    client.servingThread.store(larder_thread(), ordering: .relaxed)
    unsafe slot.pointee = Unmanaged.passRetained(client).toOpaque()
  } else if let retained = unsafe slot.pointee {
    unsafe slot.pointee = nil
    unsafe engine.connections.remove(Unmanaged<ClientConnection>.fromOpaque(retained).takeRetainedValue())
    engine.listener.noteRoom()
  }
}

/// Called with the unchanged first line of a request. Creates the exchange, which the request retains until it is
/// completed.
func serverReadsTarget(
  _ context: UnsafeMutableRawPointer?, _ text: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  guard let engine = unsafe engine(context), let connection = unsafe connection, let text = unsafe text,
    let retained = unsafe larder_mhd_socket_context(connection)
  else { return nil }
  let client = unsafe Unmanaged<ClientConnection>.fromOpaque(retained).takeUnretainedValue()
  let exchange = unsafe ServerExchange(
    target: String(cString: text), connection: client, engine: engine, handle: ConnectionHandle(connection))
  client.begin(exchange)
  unsafe hideQuery(text)
  unsafe larder_mhd_hide_cookies(connection)
  return unsafe Unmanaged.passRetained(exchange).toOpaque()
}

/// Makes the query look empty to libmicrohttpd. libmicrohttpd would parse the query, in time that grows with the square
/// of its length, and with memory of the head's. The target has been copied before, and the text is in the connection's
/// own buffer, which libmicrohttpd itself is about to change.
private func hideQuery(_ text: UnsafePointer<CChar>) {
  var index = 0
  while unsafe text[index] != 0 && text[index] != 0x3F { index += 1 }
  if unsafe text[index] == 0x3F { unsafe UnsafeMutablePointer(mutating: text)[index + 1] = 0 }
}

/// Leaves the path as it is.
func serverUnescapes(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ text: UnsafeMutablePointer<CChar>?
) -> Int {
  guard let text = unsafe text else { return 0 }
  var count = 0
  while unsafe text[count] != 0 { count += 1 }
  return count
}

/// Called for a request's head, a piece of its content, or its end.
func serverHandles(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ path: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ content: UnsafePointer<CChar>?,
  _ count: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let connection = unsafe connection, let method = unsafe method, let version = unsafe version,
    let count = unsafe count, let retained = unsafe slot?.pointee
  else { return .NO }
  let exchange = unsafe Unmanaged<ServerExchange>.fromOpaque(retained).takeUnretainedValue()
  let step: ServerExchange.Step
  if let content = unsafe content, unsafe count.pointee > 0 {
    let (next, isConsumed) = unsafe exchange.handleContent(UnsafeRawBufferPointer(start: content, count: count.pointee))
    if isConsumed { unsafe count.pointee = 0 }
    step = next
  } else if exchange.isAtHead {
    step = exchange.handleHead { unsafe readHead(connection, method, version, exchange) }
  } else {
    step = exchange.handleEnd()
  }
  switch step {
  case .proceed: return .YES
  case .close: return .NO
  case .respond(let response):
    let isHead = unsafe method[0] == 0x48 && strcmp(method, "HEAD") == 0
    return unsafe exchange.queue(response, on: connection, isHead: isHead) ? .YES : .NO
  }
}

private func readHead(
  _ connection: OpaquePointer, _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>,
  _ exchange: ServerExchange
) -> Result<RequestHead, HeadRejection> {
  let options = exchange.engine.options
  var reader = unsafe HeadReader(
    method: method, target: exchange.target, version: version, targetByteLimit: options.targetByteLimit)
  // The reader stays in place during the iteration over the fields.
  unsafe withUnsafeMutablePointer(to: &reader) { reader in
    _ = unsafe larder_mhd_each_field(connection, serverReadsField, reader)
  }
  return unsafe reader.head(
    size: larder_mhd_head_size(connection), headByteLimit: options.headByteLimit,
    contentByteLimit: options.contentByteLimit)
}

/// Called when libmicrohttpd writes to its log, in particular before it rejects a request on its own.
func serverNotices(_ context: UnsafeMutableRawPointer?) {
  unsafe engine(context)?.rejectUndeliveredHead(thread: larder_thread())
}

private func serverReadsField(
  _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameCount: Int,
  _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
  guard let reader = unsafe context?.assumingMemoryBound(to: HeadReader.self) else { return .NO }
  if unsafe larder_mhd_is_hiding(name) != 0 { return .YES }
  unsafe reader.pointee.addField(
    name: UnsafeRawBufferPointer(start: name, count: nameCount),
    value: UnsafeRawBufferPointer(start: value, count: valueCount))
  return .YES
}

/// Called when a request is over, whether it succeeded or not.
func serverCompletes(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
  guard let connection = unsafe connection, let retained = unsafe slot?.pointee else { return }
  unsafe slot?.pointee = nil
  let exchange = unsafe Unmanaged<ServerExchange>.fromOpaque(retained).takeRetainedValue()
  exchange.connection.end(now: CoarseClock.now)
  unsafe exchange.end(
    isComplete: larder_mhd_is_complete(code) != 0, status: Int(larder_mhd_status(connection)))
}

/// Called for the next bytes of a response's content.
func serverReadsContent(
  _ context: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ count: Int
) -> Int {
  guard let context = unsafe context, let buffer = unsafe buffer else {
    return Int(larder_mhd_end_with_error)
  }
  return unsafe Unmanaged<ServerExchange>.fromOpaque(context).takeUnretainedValue()
    .readContent(into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
}

func serverReleasesContent(_ context: UnsafeMutableRawPointer?) {
  if let context = unsafe context { unsafe Unmanaged<ServerExchange>.fromOpaque(context).release() }
}
