import LarderHTTP
import LarderOData
import LarderService

// Finds out whether a link that no row has inline leads to entities.
extension DownloadRun {
  /// Requests the link of one row.
  func ask(_ question: LinkQuestion, _ machine: DownloadMachine) async throws -> DownloadMachine.Input {
    try Task.checkCancellation()
    guard let (_, navigation) = places[query.id]?.requested.link(question.link),
      let url = question.url.flatMap({ machine.links.resolve($0, from: machine.url) })
    else { return .answered(.unknown) }
    let request = PageRequest(place: .link(url), form: machine.memory.supportsOnlyAtom ? .atom : .json)
    let response: ODataMediaResponse
    do throws(ODataServiceError) {
      response = try await store.conversation.streamResponse(to: pages.request(request))
    } catch {
      if error.isCancelled { throw CancellationError() }
      if error.isForeign { return .failed(OfflineODataError(error), isInterrupted: false, rows: 0) }
      switch error.category {
      case .communication, .authentication, .csrf:
        return .failed(OfflineODataError(error), isInterrupted: false, rows: 0)
      case .http(let status, _) where status != 403 && DownloadMachine.isTemporary(status):
        return .failed(OfflineODataError(error), isInterrupted: false, rows: 0)
      case .http(let status, _): return .answered(status == 404 ? .notFound : .unknown)
      default: return .answered(.unknown)
      }
    }
    defer { response.body.cancel() }
    if response.httpStatus == 204 { return .answered(.none) }
    guard inputForOtherContent(response, request) == nil else { return .answered(.unknown) }
    let form = form(response, question.isCollection ? .collection : .entity)
    var reader = PageReader(form, into: PageRows(plan: store.replica.plan, table: navigation.target))
    do {
      for try await piece in response.body {
        try reader.read(piece)
        // One entity is enough.
        if reader.handler.rows.rootCount > 0 || !reader.handler.rows.frames.isEmpty { return .answered(.related) }
      }
      try reader.finish()
    } catch {
      if Task.isCancelled { throw CancellationError() }
      return .answered(.unknown)
    }
    return .answered(reader.handler.rows.rootCount > 0 ? .related : .none)
  }

  /// Makes the links that the service returns one by one pages of the download, as far as the store's limit allows.
  func follow(
    _ ending: inout DownloadMachine.Ending, _ staging: any DownloadStaging, isResumed: Bool
  ) async throws {
    var limit = store.settings.linkRequestLimit
    guard limit > 0, !isResumed, let requested = places[query.id]?.requested else { return }
    var missing = ending.missingLinks ?? []
    for name in ending.linksToFollow ?? [] {
      guard let (table, navigation) = requested.link(name),
        let count = try await staging.follow(table, navigation, limit: limit)
      else { continue }
      limit -= count
      missing.removeAll { $0 == name }
      // The entities come without the links below them.
      missing += requested.links(behind: name).filter { !missing.contains($0) }
    }
    ending.missingLinks = missing
  }

  func isCollection(_ inline: InlinePage) -> Bool {
    let tables = store.replica.plan.tables
    guard tables.indices.contains(inline.table), tables[inline.table].navigations.indices.contains(inline.navigation)
    else { return true }
    return tables[inline.table].navigations[inline.navigation].isCollection
  }

  /// The response to the request of an inline page; nil if a single link leads nowhere, or its entity no longer exists.
  func response(
    to request: PageRequest, of inline: InlinePage, isCollection: Bool
  ) async throws -> ODataMediaResponse? {
    do throws(ODataServiceError) {
      let response = try await store.conversation.streamResponse(to: pages.request(request))
      guard response.httpStatus == 204, !isCollection else { return response }
      response.body.cancel()
      return nil
    } catch {
      guard error.httpStatus == 404, error.isOfRequestedURL, !isCollection else { throw error }
      return nil
    }
  }
}
