import LarderCore
import LarderOData
import LarderService
import LarderStorage

/// One upload of a store. It reads the queue, runs what the ``UploadMachine`` decides, and returns the report.
struct StoreUpload: Sendable {
  let store: OpenStore
  let options: OfflineODataUploadOptions
  /// Called with progress events.
  let emit: @Sendable (OfflineODataEvent) -> Void

  /// Runs the upload. Only one upload of a store runs at a time, over all processes: throws `uploadRunning` if another
  /// is running.
  ///
  /// Otherwise it throws the reason why it stopped: no connection, no credentials, a failure of the file, or
  /// cancellation by the caller. Changes that were not sent are still queued then.
  func run() async throws -> OfflineODataUploadReport {
    try options.check()
    let lock: FileLock
    do throws(StorageError) { lock = try FileLock(store.replica.database.path + "-upload") } catch {
      throw error.category == .inUse ? OfflineODataError(.uploadRunning) : OfflineODataError(error)
    }
    defer { lock.release() }
    // A download that began before the upload would overwrite newer rows by the service's older ones.
    let download: FileLock
    do throws(StorageError) { download = try FileLock(store.replica.database.path + "-download") } catch {
      throw error.category == .inUse ? OfflineODataError(.downloadRunning) : OfflineODataError(error)
    }
    defer { download.release() }
    let environment = store.conversation.options.environment
    let begin = environment.uptime()
    var run = Run()
    do {
      try await store.useModel()
      store.forgetLastUpload()
      try await rounds(&run)
    } catch { run.stop = run.stop ?? UploadInterruptionReason(error) }
    let (report, stop) = (try await report(run), run.stop?.error)
    var record = EventLog.Record(type: "Upload")
    record.rows = Int64(report.sent)
    record.details =
      "\(report.sent) sent, \(report.failed) failed, \(report.pending) pending" + (stop.map { ". \($0)" } ?? "")
    record.errorCode = stop?.errorCode
    record.milliseconds = (environment.uptime() - begin).milliseconds
    let event = record
    // The event is logged even if the upload was cancelled.
    await environment.task { await store.log(event) }.value
    if let stop { throw UploadInterruption(report: report, error: stop) }
    return report
  }

  fileprivate struct Run {
    var counts = UploadCounts()
    var requests = 0
    var total = 0
    var stop: UploadInterruptionReason?
    var batchError: ODataServiceError?
  }

  /// Runs rounds until one ends without a temporary failure of the service. Before each further round it waits, as the
  /// service requires or as the conversation's policy for repetitions says. Each round looks up the requests that the
  /// last one left uncertain, before it sends anything again.
  private func rounds(_ run: inout Run) async throws {
    let environment = store.conversation.options.environment
    func newRepetitions() -> RetryStateMachine {
      RetryStateMachine(
        policy: store.conversation.options.retry, repeatability: .always, start: environment.uptime())
    }
    var repetitions = newRepetitions()
    while true {
      let earlierCounts = run.counts
      store.presence.forget()
      try await round(&run)
      guard let failure = run.stop?.temporaryFailure else { return }
      if run.counts != earlierCounts { repetitions = newRepetitions() }
      let action = repetitions.after(
        failure, now: environment.uptime(), unixTime: environment.unixSeconds, random: environment.random())
      guard case .wait(let pause) = action else { return }
      (run.stop, run.batchError) = (nil, nil)
      try await environment.sleepBeforeRepetition(pause)
    }
  }

  private func round(_ run: inout Run) async throws {
    let journal = UploadJournal(store: store, options: options)
    let uploadRun = UploadRun(journal: journal)
    var units = try await journal.units()
    run.total = run.counts.decided + units.reduce(0) { $0 + $1.size }
    let earlierCounts = run.counts
    try await uploadRun.resolveNoticedConflicts(units.map(\.id), &run.counts)
    if run.counts != earlierCounts { units = try await journal.units() }
    let rules = UploadRules(
      unitsPerBatch: store.rejectsBatches ? 0 : options.changesPerBatch, lanes: options.lanes,
      splitsTransactions: options.splitsTransactions)
    var machine = UploadMachine(units, rules: rules)
    await withTaskGroup(of: UploadRun.Step.self) { group in
      var actions = machine.take(.begin)
      while true {
        for action in actions where action != .finish {
          let batchError = run.batchError
          group.addTask { await uploadRun.perform(action, batchError: batchError) }
        }
        guard let step = await group.next() else { return }
        actions = []
        run.take(step)
        for input in step.inputs { actions += machine.take(input) }
        if Task.isCancelled { actions = machine.take(.stop) + actions }
        emit(
          .uploadProgress(
            OfflineODataUploadProgress(sent: run.counts.sent, failed: run.counts.failed, total: run.total)))
      }
    }
    if rules.unitsPerBatch > 0 {
      if !machine.usesBatches {
        store.recordBatchRejection(run.batchError, hasSent: run.counts.sent > 0)
      } else if machine.batchTookEffect {
        store.recordBatches()
      }
    }
    if run.stop == nil, let first = machine.unsendable.first {
      let reason = options.changesPerBatch > 0 ? "which the service does not support" : "but changesPerBatch is 0"
      run.stop = UploadInterruptionReason(
        OfflineODataError(
          .unsupportedByService,
          "the changes of transaction \(first) must be sent in one batch, \(reason); set splitsTransactions to send them one by one"
        ))
    }
    if run.stop == nil, Task.isCancelled { run.stop = UploadInterruptionReason(CancellationError()) }
  }

  private func report(_ run: Run) async throws -> OfflineODataUploadReport {
    var report = OfflineODataUploadReport()
    (report.sent, report.failed, report.discarded) = (run.counts.sent, run.counts.failed, run.counts.discarded)
    report.requests = run.requests
    report.pending = try await UploadJournal(store: store, options: options).pendingCount()
    return report
  }
}

extension StoreUpload.Run {
  fileprivate mutating func take(_ step: UploadRun.Step) {
    counts += step.counts
    requests += step.requests
    stop = stop ?? step.stop
    batchError = step.batchError ?? batchError
  }
}

/// An interrupted upload: the report of what it had done, and the reason why it stopped.
struct UploadInterruption: Error {
  let report: OfflineODataUploadReport
  let error: OfflineODataError
}
