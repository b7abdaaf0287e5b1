import CLarderCurl

// The functions that libcurl calls, on the engine's thread. They are plain functions, because a closure could be
// inferred to belong to an actor. Each finds its transfer through the pointer that was set with it; the loop retains
// the transfer meanwhile.

private func transfer(_ pointer: UnsafeMutableRawPointer?) -> CurlTransfer? {
  unsafe pointer.map { unsafe Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
}

/// Returned to libcurl to abort a transfer: a number that is neither the count of bytes nor `CURL_WRITEFUNC_PAUSE`.
private let abortTransfer = 0

func curlReceivedContent(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ user: UnsafeMutableRawPointer?
) -> Int {
  guard let transfer = unsafe transfer(user) else { return abortTransfer }
  let content = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
  return unsafe transfer.received(content: content) ? content.count : Int(CURL_WRITEFUNC_PAUSE)
}

func curlReceivedLine(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ user: UnsafeMutableRawPointer?
) -> Int {
  guard let transfer = unsafe transfer(user) else { return abortTransfer }
  let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
  return unsafe transfer.received(line: line) ? line.count : abortTransfer
}

func curlWantsContent(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ user: UnsafeMutableRawPointer?
) -> Int {
  guard let transfer = unsafe transfer(user) else { return Int(CURL_READFUNC_ABORT) }
  let target = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
  switch unsafe transfer.read(into: target) {
  case .bytes(let count): return count
  case .end: return 0
  case .notReady: return Int(CURL_READFUNC_PAUSE)
  case .failed: return Int(CURL_READFUNC_ABORT)
  }
}

/// libcurl seeks only to restart the content, after a kept connection was closed during a request.
func curlSeeks(_ user: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
  guard let transfer = unsafe transfer(user), offset == 0, origin == 0 else { return CURL_SEEKFUNC_FAIL }
  transfer.rewind()
  return CURL_SEEKFUNC_OK
}

func curlIsConnected(
  _ user: UnsafeMutableRawPointer?, _ peerAddress: UnsafeMutablePointer<CChar>?,
  _ localAddress: UnsafeMutablePointer<CChar>?,
  _ peerPort: Int32, _ localPort: Int32
) -> Int32 {
  guard let transfer = unsafe transfer(user), transfer.connected() else { return CURL_PREREQFUNC_ABORT }
  return CURL_PREREQFUNC_OK
}
