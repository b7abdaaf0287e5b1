internal import LarderCore
internal import LarderOData
internal import LarderOffline

/// What an upload tells: progress on a terminal while it runs, the numbers and what was refused at its end.
final class UploadReport: Sendable {
  private let context: CommandContext
  private let state = Locked(OfflineODataUploadReport())
  /// The changes that the upload was about and that are not with the service.
  private let left = Locked(0)

  init(_ context: CommandContext) { self.context = context }

  /// What became of the changes so far.
  var numbers: OfflineODataUploadReport { state.withLock { $0 } }

  private var remaining: Int { left.withLock { $0 } }

  /// 1 where something remains that the upload was about: refused now or before, or still queued.
  var status: CommandStatus { remaining > 0 ? .negative : .done }

  /// Runs an upload, shows how far it is, and hears its end, good or bad.
  func hear(_ provider: OfflineODataProvider, _ options: OfflineODataUploadOptions) async throws {
    let bars = DownloadBars(context, unit: "changes")
    let events = provider.events
    let hearing = Task {
      for await event in events {
        switch event {
        case .uploadProgress(let progress):
          bars.update("upload") { line in
            line.step = progress.failed > 0 ? "\(progress.failed) refused" : ""
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
      // An upload that has not begun tells no end.
      hearing.cancel()
      await hearing.value
      throw error
    }
    await hearing.value
    let count = try await provider.remainingCount(options)
    left.withLock { $0 = count }
  }

  /// `sent 3, failed 1, left 0`, and what was refused.
  func print(_ provider: OfflineODataProvider, in folder: CloneFolder) async throws {
    let numbers = numbers
    var words = "sent \(numbers.sent), failed \(numbers.failed), left \(numbers.left)"
    if numbers.discarded > 0 { words += ", given up \(numbers.discarded)" }
    try context.output.line(words)
    if numbers.failed == 0, remaining > numbers.left {
      context.note(
        "The error archive still has changes: 'larder \(folder.option)errors list' tells why, 'errors retry' puts them back into the queue."
      )
    } else if numbers.failed == 0, remaining > 0 {
      context.note("\(Counted.text(remaining, "change")) still waiting: 'larder \(folder.option)status' shows which.")
    }
    guard numbers.failed > 0 else { return }
    let rows = try await ArchiveSets.errors(provider)
    for row in rows where row["Held"] != .boolean(true) { context.warn(ErrorsText.summary(row)) }
    context.note(
      "'larder \(folder.option)errors list' tells more, 'larder \(folder.option)errors diff ID' what differs.")
  }

  /// The numbers under their names, and the error that ended the upload.
  func write(to json: inout JSONOutput, endingWith error: (any Error)? = nil) {
    let numbers = numbers
    json.beginObject()
    json.member("sent", numbers.sent)
    json.member("failed", numbers.failed)
    json.member("left", numbers.left)
    json.member("remaining", remaining)
    json.member("discarded", numbers.discarded)
    json.member("requests", numbers.requests)
    json.member("error", error.map { CommandFailure($0).message })
    json.endObject()
  }
}
