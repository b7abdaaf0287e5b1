import HTTPCore

extension HTTPCache {
  /// One exchange with the network, from the request to the end of the content, for all who share it.
  func run(_ transfer: Transfer, _ errand: Errand) async {
    defer { transfers.remove(transfer) }
    var errand = errand
    while true {
      let sent = options.now()
      let response: HTTPResponse
      do {
        response = try await transport.send(errand.request)
      } catch {
        transfers.detach(transfer, isShareable: true)
        return transfer.publish(.failure(error))
      }
      let arrival = Arrival(response, requestTime: sent, responseTime: options.now())
      guard response.status == 304, errand.isValidation else {
        return await receive(response, arrival, errand, transfer)
      }
      await finish(response.body)
      if let entry = await confirm(errand, arrival, isOutdated: transfer.isOutdated) {
        transfers.detach(transfer, isShareable: true)
        return transfer.publish(.success(.validated(entry)))
      }
      // The 304 is about nothing that is (still) there.
      errand = errand.unconditional
    }
  }

  private func receive(_ response: HTTPResponse, _ arrival: Arrival, _ errand: Errand, _ transfer: Transfer) async {
    let metadata = await metadata(toStore: arrival, errand)
    if metadata == nil { await discardOutdated(errand, arrival) }
    let head = TransferHead(
      status: response.status, fields: response.fields, length: HTTPCache.length(of: response), metadata: metadata)
    var pump = Pump(engine: self, transfer: transfer, errand: errand, arrival: arrival, head: head)
    await pump.run(response.body)
  }

  /// The content's length, where the head says it.
  static func length(of response: HTTPResponse) -> Int? {
    response.status == 204 || response.status == 304 ? 0 : response.body.length
  }

  /// Reads what little there may be, which leaves the connection free for the next request.
  func finish(_ body: HTTPBodyStream) async {
    do { _ = try await body.collect(upTo: 1 << 16) } catch { body.cancel() }
  }
}
