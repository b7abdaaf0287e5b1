@_spi(Stores) internal import LarderCore
internal import LarderOData
internal import LarderOffline

/// Reports an upload: progress on a terminal while it runs, and the numbers and rejected changes at its end.
final class UploadReport: Sendable {
  private let context: CommandContext
  private let state = Locked(OfflineODataUploadReport())
  /// The number of changes in the upload's scope that have not reached the service.
  private let pendingCount = Locked(0)

  init(_ context: CommandContext) { self.context = context }

  /// The outcome of the changes so far.
  var numbers: OfflineODataUploadReport { state.withLock { $0 } }

  private var remaining: Int { pendingCount.withLock { $0 } }

  /// 1 if changes in the upload's scope remain: rejected now or earlier, or still queued.
  var status: CommandStatus { remaining > 0 ? .negative : .done }

  /// Runs an upload, shows its progress, and records its end, whether success or failure.
  func run(_ provider: OfflineODataProvider, _ options: OfflineODataUploadOptions) async throws {
    let bars = DownloadBars(context, unit: "changes")
    let events = provider.events
    let following = Task {
      for await event in events {
        switch event {
        case .uploadProgress(let progress):
          bars.update("upload") { line in
            line.step = progress.failed > 0 ? "\(progress.failed) rejected" : ""
            line.rows = Int64(progress.sent + progress.failed)
            line.total = Int64(progress.total)
          }
        case .uploadFinished(let report), .uploadFailed(let report, _):
          self.state.withLock { $0 = report }
          return
        default: break
        }
      }
    }
    defer { bars.end() }
    do { _ = try await provider.upload(options) } catch {
      // An upload that has not begun reports no end.
      following.cancel()
      await following.value
      throw error
    }
    await following.value
    let count = try await provider.remainingCount(options)
    pendingCount.withLock { $0 = count }
  }

  /// Prints `sent 3, failed 1, pending 0`, and the rejected changes.
  func print(_ provider: OfflineODataProvider, in folder: CloneFolder) async throws {
    let numbers = numbers
    var summary = "sent \(numbers.sent), failed \(numbers.failed), pending \(numbers.pending)"
    if numbers.discarded > 0 { summary += ", discarded \(numbers.discarded)" }
    try context.output.line(summary)
    if numbers.failed == 0, remaining > numbers.pending {
      context.note(
        "The error archive still has changes: 'larder \(folder.option)errors list' shows the reasons, 'errors retry' queues them again."
      )
    } else if numbers.failed == 0, remaining > 0 {
      context.note("\(Counted.text(remaining, "change")) still pending: 'larder \(folder.option)status' shows them.")
    }
    guard numbers.failed > 0 else { return }
    let rows = try await ArchiveSets.errors(provider)
    for row in rows where row["Held"] != .boolean(true) { context.warn(ErrorsText.summary(row)) }
    context.note(
      "'larder \(folder.option)errors list' shows details, 'larder \(folder.option)errors diff ID' the differences.")
  }

  /// Writes the numbers with their names, and the error that ended the upload.
  func write(to json: inout JSONOutput, endingWith error: (any Error)? = nil) {
    let numbers = numbers
    json.beginObject()
    json.member("sent", numbers.sent)
    json.member("failed", numbers.failed)
    json.member("pending", numbers.pending)
    json.member("remaining", remaining)
    json.member("discarded", numbers.discarded)
    json.member("requests", numbers.requests)
    json.member("error", error.map { CommandFailure($0).message })
    json.endObject()
  }
}
