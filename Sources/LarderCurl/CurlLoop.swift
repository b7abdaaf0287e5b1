import CLarderCurl
import LarderHTTP

/// The transfers of one engine. Used only on the engine's thread.
final class CurlLoop {
  /// The number of easy handles kept for later requests; each holds libcurl's TLS session data.
  ///
  /// Zero before libcurl 8.1.0: there, a handle keeps a pointer to the last field of the previous response, even after
  /// `curl_easy_reset`. A response whose first field line begins with white space then makes libcurl write behind it
  /// (https://github.com/curl/curl/issues/11101). Connections belong to the multi handle and are kept anyway.
  private static let spareLimit: Int = {
    guard let version = unsafe larder_curl_version() else { return 0 }
    return unsafe version.pointee.version_num >= 0x080100 ? 32 : 0
  }()
  /// The longest sleep when there is nothing to do.
  private static let longestWait = Duration.seconds(60)

  private let multi: MultiHandle
  private let setup: TransferSetup
  private var transfers: [ObjectIdentifier: CurlTransfer] = [:]
  private var byHandle: [UInt: CurlTransfer] = [:]
  private var spares: [EasyHandle] = []
  /// When the idle time of the transfers must be checked next.
  private var idleCheck: ContinuousClock.Instant?

  init(_ multi: MultiHandle, _ settings: TransportSettings) {
    self.multi = multi
    setup = TransferSetup(settings)
    unsafe _ = larder_curl_multi_setopt_long(
      multi.pointer, CURLMOPT_MAX_HOST_CONNECTIONS, settings.options.connectionLimitPerHost)
  }

  /// Executes commands; returns false if the loop should end.
  func execute(_ commands: [CurlEngine.Command]) -> Bool {
    var isRunning = true
    for command in commands {
      switch command {
      case .start(let exchange): start(exchange)
      case .cancel(let exchange): if let transfer = transfer(of: exchange) { end(transfer, .cancelled) }
      case .resumeReceiving(let exchange): transfer(of: exchange)?.resumeReceiving()
      case .resumeSending(let exchange): transfer(of: exchange)?.resumeSending()
      case .stop: isRunning = false
      }
    }
    return isRunning
  }

  /// Runs libcurl, collects the transfers that have ended, and sleeps until something happens.
  func runOnce() {
    var running: Int32 = 0
    let performed = unsafe curl_multi_perform(multi.pointer, &running)
    collectEnded()
    endSilent()
    let wait = idleCheck.map { min(max($0 - .now, .zero), CurlLoop.longestWait) } ?? CurlLoop.longestWait
    let polled = unsafe curl_multi_poll(multi.pointer, nil, 0, Int32(clamping: wait.wholeMilliseconds), nil)
    for code in [performed, polled] where code != CURLM_OK { failAll(code) }
  }

  /// Ends every transfer and frees all handles.
  func close() {
    for transfer in transfers.values { end(transfer, .cancelled) }
    for spare in spares { unsafe curl_easy_cleanup(spare.pointer) }
    spares = []
  }

  private func transfer(of exchange: CurlExchange) -> CurlTransfer? { transfers[ObjectIdentifier(exchange)] }

  private func start(_ exchange: CurlExchange) {
    guard exchange.isOpen else { return }
    guard let handle = spareHandle() else {
      exchange.finish(.other("libcurl cannot create a handle"))
      return
    }
    let transfer = CurlTransfer(exchange, handle)
    if let error = setup.apply(to: transfer) {
      exchange.finish(error)
      return retire(handle, transfer)
    }
    let added = unsafe curl_multi_add_handle(multi.pointer, handle.pointer)
    guard added == CURLM_OK else {
      exchange.finish(unsafe .other("libcurl: \(String(cString: curl_multi_strerror(added)))"))
      return retire(handle, transfer)
    }
    transfers[ObjectIdentifier(exchange)] = transfer
    byHandle[handle.address] = transfer
    let due = transfer.silenceEnds
    idleCheck = min(idleCheck ?? due, due)
  }

  private func spareHandle() -> EasyHandle? {
    if let spare = spares.popLast() { return spare }
    guard let pointer = unsafe curl_easy_init() else { return nil }
    return unsafe EasyHandle(pointer: pointer)
  }

  private func collectEnded() {
    var remaining: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi.pointer, &remaining) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let handle = unsafe larder_curl_message_handle(message),
        let transfer = byHandle[UInt(bitPattern: handle)]
      else { continue }
      let result = unsafe larder_curl_message_result(message)
      end(transfer, transfer.outcome(of: result))
    }
  }

  /// Removes a transfer. Its connection is closed if it is in the middle of an exchange.
  private func end(_ transfer: CurlTransfer, _ error: HTTPTransportError?) {
    let handle = transfer.handle
    unsafe curl_multi_remove_handle(multi.pointer, handle.pointer)
    transfers[ObjectIdentifier(transfer.exchange)] = nil
    byHandle[handle.address] = nil
    if error == nil { transfer.deliverPendingHead() }
    // A producer that was restarted after its exchange had ended is stopped here.
    if !transfer.exchange.finish(error) { transfer.exchange.upload.stop() }
    retire(handle, transfer)
  }

  private func retire(_ handle: EasyHandle, _ transfer: CurlTransfer) {
    unsafe curl_easy_reset(handle.pointer)
    transfer.free()
    if spares.count < CurlLoop.spareLimit {
      spares.append(handle)
    } else {
      unsafe curl_easy_cleanup(handle.pointer)
    }
  }

  /// Ends transfers that were idle for too long. Checks only when the first could be due.
  private func endSilent() {
    let now = ContinuousClock.now
    guard let check = idleCheck, check <= now else { return }
    for transfer in transfers.values {
      if transfer.isOverdue(at: now) {
        end(transfer, .timeout(phase: "total"))
      } else if transfer.isSilent(at: now) {
        end(transfer, .timeout(phase: "idle"))
      }
    }
    idleCheck = transfers.values.map(\.silenceEnds).min()
  }

  private func failAll(_ code: CURLMcode) {
    let reason = unsafe String(cString: curl_multi_strerror(code))
    for transfer in transfers.values { end(transfer, .other("libcurl: \(reason)")) }
  }
}

extension Duration {
  /// Whole milliseconds, rounded up, so that a wait is never too short; clamped to what libcurl accepts.
  var wholeMilliseconds: Int {
    let (seconds, attoseconds) = components
    if seconds >= 2_000_000 { return 2_000_000_000 }
    if seconds < 0 { return 0 }
    return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
