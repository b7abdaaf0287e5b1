@_spi(Stores) import LarderCore
import LarderHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// Handles libmicrohttpd's calls for a request, on the connection's thread.
extension ServerExchange {
  /// Handles a complete head. It is called again after the connection was suspended.
  func handleHead(_ head: () -> Result<RequestHead, HeadRejection>) -> Step {
    let (isStarted, isAborted) = state.withLock { ($0.isStarted, $0.isAborted) }
    if isAborted { return .close }
    if isStarted { return continueHead() }
    connection.headIsWhole()
    switch head() {
    case .failure(let rejection):
      state.withLock { $0.isRejected = true }
      var response = HTTPServerResponse(status: rejection.status, text: rejection.text)
      addRejectionFields(to: &response)
      return .respond(response)
    case .success(let head):
      let content = content(head)
      state.withLock { state in
        state.isStarted = true
        state.method = head.method.rawValue
        state.expectsContinue = head.expectsContinue
        if content == nil { state.stage = .whole }
      }
      let request = HTTPServerRequest(
        method: head.method, target: target, fields: head.fields, minorVersion: head.isHTTP10 ? 0 : 1,
        client: connection.client, content: content,
        sendInterim: { [weak self, isHTTP10 = head.isHTTP10] in if !isHTTP10 { self?.sendInterim($0) } })
      if content == nil, let response = engine.atOnce?(request) { respond(with: response) } else { start(request) }
      // For a request without content, libmicrohttpd calls again at once; a response to this call would close the
      // connection.
      return content == nil ? .proceed : continueHead()
    }
  }

  private func content(_ head: RequestHead) -> HTTPBodyStream? {
    switch head.framing {
    case .none: nil
    case .length(let length): makeContentStream(length: length)
    case .chunked: makeContentStream(length: nil)
    }
  }

  /// Continues after the head: content is received once a reader wants it, or once no reader will.
  private func continueHead() -> Step {
    state.withLock { state in
      if state.isAborted { return .close }
      if state.expectsContinue, let response = state.response.take() {
        // The client has not been asked to continue: the response replaces 100 (Continue), and ends the connection.
        return .respond(response)
      }
      if state.incoming.isAwaited || (state.incoming.isDiscarded && !state.expectsContinue) {
        state.stage = .content
        return .proceed
      }
      return suspend(&state)
    }
  }

  /// Handles a piece of content. If `isConsumed` is false, libmicrohttpd must pass the piece again.
  func handleContent(_ bytes: UnsafeRawBufferPointer) -> (step: Step, isConsumed: Bool) {
    let limit = engine.options.contentByteLimit
    let result = state.withLock {
      state -> (step: Step, isConsumed: Bool, reader: IncomingContent.Reader?, chunk: [UInt8]) in
      if state.isAborted { return (.close, false, nil, []) }
      state.stage = .content
      switch unsafe state.incoming.receive(bytes, limit: limit) {
      case .accepted(let reader, let chunk): return (.proceed, true, reader, chunk)
      case .bufferFull: return (suspend(&state), false, nil, [])
      case .tooLarge: return (.close, true, nil, [])
      }
    }
    result.reader?.resume(returning: .success(result.chunk))
    if case .close = result.step, result.isConsumed { rejectTooLargeContent(limit: limit) }
    return (result.step, result.isConsumed)
  }

  /// Sends an interim response to the socket directly, because libmicrohttpd allows one response for each request
  /// (`MHD_queue_response` rejects a second one). Between the head of a request and the response, libmicrohttpd sends
  /// nothing on its own except 100 (Continue), if the client waits for that.
  private func sendInterim(_ response: HTTPInterimResponse) {
    let head = ServerExchange.interimHead(response)
    let isWhole = state.withLock { state in
      guard state.stage != .over, !state.isAborted, !state.hasResponse, !state.expectsContinue else { return true }
      let sent = connection.send(head)
      return sent <= 0 || sent == head.count
    }
    // The buffer was full and only a part was sent: what follows would not be read as a response.
    if !isWhole {
      abort()
      connection.shut(.both)
    }
  }

  private static func interimHead(_ response: HTTPInterimResponse) -> [UInt8] {
    var head = Array("HTTP/1.1 \(response.status) \(response.status == 103 ? "Early Hints" : "Interim")\r\n".utf8)
    head.append(response.fields)
    return head + Array("\r\n".utf8)
  }

  /// Rejects content of unknown length that exceeds the limit. libmicrohttpd accepts no response in the middle of
  /// content, so the response is written to the socket directly; nothing else is sent at this time.
  private func rejectTooLargeContent(limit: Int) {
    sendRejection("413 Content Too Large")
    let reader = state.withLock { $0.incoming.fail(.bodyTooLarge(limit: limit)) }
    reader?.resume(returning: .failure(.bodyTooLarge(limit: limit)))
    abort()
  }

  /// Handles the end of the request. It is called again after the connection was suspended.
  func handleEnd() -> Step {
    let (step, reader) = state.withLock { state -> (Step, IncomingContent.Reader?) in
      if state.isAborted { return (.close, nil) }
      state.stage = .whole
      let reader = state.incoming.finish()
      if let response = state.response.take() { return (.respond(response), reader) }
      return (suspend(&state), reader)
    }
    reader?.resume(returning: .success(nil))
    return step
  }
}
