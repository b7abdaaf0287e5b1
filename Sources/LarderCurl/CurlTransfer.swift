import CLarderCurl
import LarderHTTP

/// One of libcurl's easy handles: used only on the engine's thread, and cleaned up by its loop.
@safe struct EasyHandle {
  let pointer: UnsafeMutableRawPointer
  /// The handle's address, by which its transfer is found.
  var address: UInt { unsafe UInt(bitPattern: pointer) }
}

/// The engine's side of an exchange: an easy handle and the implementations of its callbacks. Used only on the engine's
/// thread.
@safe final class CurlTransfer {
  let exchange: CurlExchange
  let handle: EasyHandle
  /// The list behind `CURLOPT_HTTPHEADER`; freed with the transfer.
  var fieldList: UnsafeMutablePointer<curl_slist>?
  let errorText: UnsafeMutablePointer<CChar>

  private var parser: ResponseHeadParser
  /// A head without content, held back until its transfer ends, so that dropping the response cannot break the
  /// connection.
  private var pendingHead: ResponseHead?
  private var isInHead = true
  /// The reason why a callback aborted the transfer.
  private var failure: HTTPTransportError?
  private var isReceivingPaused = false
  private var isSendingPaused = false
  /// The number of connections that the request was sent on.
  private var attempts = 0
  private let started = ContinuousClock.now
  private var lastActivity = ContinuousClock.now
  private var lastCount = 0

  init(_ exchange: CurlExchange, _ handle: EasyHandle) {
    self.exchange = exchange
    self.handle = handle
    unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errorText.pointee = 0
    parser = ResponseHeadParser(method: exchange.prepared.method, decodes: exchange.prepared.decodes)
  }

  /// Frees the memory that the handle pointed to; the handle must have been reset.
  func free() {
    unsafe curl_slist_free_all(fieldList)
    unsafe fieldList = nil
    unsafe errorText.deallocate()
  }

  // Called by libcurl

  /// A connection is established, and the request is about to be sent on it: a second time if the server closed the
  /// first connection. The effect of the first is unknown, so only an idempotent request is repeated (RFC 9110 §9.2.2).
  func connected() -> Bool {
    attempts += 1
    lastActivity = .now
    if attempts > 1 && !exchange.prepared.method.isIdempotent {
      failure = .connectionLost(
        reason: "the server closed a reused connection, and a \(exchange.prepared.method) is not sent twice")
      return false
    }
    return true
  }

  /// Receives a line of the response's head (or a trailer).
  func received(line: UnsafeRawBufferPointer) -> Bool {
    lastActivity = .now
    do throws(HTTPTransportError) {
      switch try unsafe parser.parse(line) {
      case nil: break
      case .interim(let response): exchange.prepared.onInterim?(response)
      case .final(let head):
        isInHead = false
        if head.isBodiless { pendingHead = head } else { exchange.deliver(head) }
      }
      return true
    } catch {
      failure = error
      return false
    }
  }

  /// Receives content of the response; false if libcurl must deliver it again later.
  func received(content: UnsafeRawBufferPointer) -> Bool {
    lastActivity = .now
    deliverPendingHead()
    if unsafe content.isEmpty { return true }
    isReceivingPaused = unsafe !exchange.deliver(Array(content))
    return !isReceivingPaused
  }

  /// Provides bytes to send.
  func read(into target: UnsafeMutableRawBufferPointer) -> Upload.Piece {
    lastActivity = .now
    let piece = unsafe exchange.upload.read(into: target)
    switch piece {
    case .notReady: isSendingPaused = true
    case .failed(let error): failure = error
    case .bytes, .end: break
    }
    return piece
  }

  /// Starts or restarts the upload.
  func rewind() {
    let exchange = self.exchange
    exchange.upload.start { [weak exchange] in exchange?.uploadIsReady() }
  }

  // Called by the engine

  /// Resumes receiving: the reader has caught up.
  func resumeReceiving() {
    guard isReceivingPaused else { return }
    // Set before the call, which may deliver content and pause again.
    isReceivingPaused = false
    lastActivity = .now
    applyPauses()
  }

  /// Resumes sending: there is more to send.
  func resumeSending() {
    guard isSendingPaused else { return }
    isSendingPaused = false
    lastActivity = .now
    applyPauses()
  }

  private func applyPauses() {
    let mask = (isReceivingPaused ? CURLPAUSE_RECV : 0) | (isSendingPaused ? CURLPAUSE_SEND : 0)
    unsafe _ = curl_easy_pause(handle.pointer, mask)
  }

  func deliverPendingHead() {
    if let head = pendingHead.take() { exchange.deliver(head) }
  }

  // Time

  /// When the idle time-out would be reached if no further byte arrived.
  var silenceEnds: ContinuousClock.Instant {
    let silence = lastActivity + exchange.prepared.timeouts.idle
    guard attempts == 0, let total = exchange.prepared.timeouts.total else { return silence }
    return min(silence, started + total)
  }

  /// Whether the total time passed before the request got a connection: libcurl does not check the time of requests
  /// without a connection.
  func isOverdue(at now: ContinuousClock.Instant) -> Bool {
    guard attempts == 0, let total = exchange.prepared.timeouts.total else { return false }
    return started + total <= now
  }

  /// Whether no byte was transferred for too long although the transfer was not waiting for this side.
  func isSilent(at now: ContinuousClock.Instant) -> Bool {
    // The time does not count while connecting (libcurl limits that), while waiting for a free connection, or while
    // paused by our own reader or producer.
    let count = byteCount()
    if attempts == 0 || isReceivingPaused || isSendingPaused || count != lastCount && silenceEnds <= now {
      lastActivity = now
    }
    lastCount = count
    return silenceEnds <= now
  }

  /// The bytes on the wire in both directions, including those that reach no callback.
  private func byteCount() -> Int {
    var down: curl_off_t = 0
    var up: curl_off_t = 0
    unsafe _ = larder_curl_getinfo_offset(handle.pointer, CURLINFO_SIZE_DOWNLOAD_T, &down)
    unsafe _ = larder_curl_getinfo_offset(handle.pointer, CURLINFO_SIZE_UPLOAD_T, &up)
    return Int(down) + Int(up)
  }

  // The end

  /// Returns the transfer's error; `nil` if it is complete.
  func outcome(of code: CURLcode) -> HTTPTransportError? {
    if let failure { return failure }
    if code == CURLE_OK { return nil }
    var message = unsafe String(cString: errorText)
    if message.isEmpty { message = unsafe String(cString: curl_easy_strerror(code)) }
    var systemError = 0
    var tunnelStatus = 0
    unsafe _ = larder_curl_getinfo_long(handle.pointer, CURLINFO_OS_ERRNO, &systemError)
    unsafe _ = larder_curl_getinfo_long(handle.pointer, CURLINFO_HTTP_CONNECTCODE, &tunnelStatus)
    let total = exchange.prepared.timeouts.total
    return CurlFailure(
      code: code, message: message, systemError: systemError, tunnelStatus: tunnelStatus, isConnected: attempts > 0,
      host: exchange.prepared.host, isInHead: isInHead,
      isPastTotal: total.map { started.duration(to: .now) >= $0 } ?? false
    ).error
  }
}
