@_spi(Stores) import LarderCore
import LarderOData
import LarderService

/// What uploads have learned about a service while the store is open.
struct UploadMemory: Sendable, Hashable {
  /// When it was learned that the service does not accept batches, in seconds since 1970; nil if it is not known.
  var batchesRejected: Double?
  /// The number of uploads in a row whose batches the service rejected, with statuses that may be about batches.
  var batchRejections = 0
  /// Whether a rejection of batches was reported.
  var hasReportedBatches = false
  /// When the service rejected requests that carry an identifier for repetitions, in seconds since 1970.
  var namesRejected: Double?
  /// Whether that rejection was reported.
  var hasReportedNames = false
  /// Whether the file records that the service recognizes repeated requests.
  var supportsRepeatability = false
  /// The entities that were assigned to creations of this upload by look-ups. Each entity belongs to one creation.
  var claimed: [String: Int64] = [:]
  /// The requests of this upload that are sent again on top of the server's version although the service may have
  /// rejected them for another reason (``ConflictSign/possible``).
  var sentOnTop: Set<Int64> = []
  /// The requests of this upload that are sent again without `If-Match: *`, because the service has rejected it.
  var sentWithoutCondition: Set<Int64> = []
  /// Whether the service returns an ETag with a single entity of a table, as this upload has found.
  var hasETags: [String: Bool] = [:]
}

extension OpenStore {
  var rejectsRequestNames: Bool {
    let now = Double(environment.unixSeconds)
    return upload.withLock { OptionRejection.isRecent($0.namesRejected, now: now) }
  }
  var supportsRepeatability: Bool { upload.withLock { $0.supportsRepeatability } }
  /// Whether the service does not accept batches. True also if its metadata say so (Capabilities Vocabulary,
  /// `BatchSupported`).
  var rejectsBatches: Bool {
    let now = Double(environment.unixSeconds)
    let isLearned = upload.withLock { OptionRejection.isRecent($0.batchesRejected, now: now) }
    return isLearned || !replica.model.declaresBatchSupport
  }

  /// Assigns to a creation the first entity that no other creation has. Nil if all are assigned.
  func claim(_ entities: [String], for creation: Int64) -> Int? {
    upload.withLock { memory in
      let claimedIndex = entities.firstIndex { memory.claimed[$0] == creation }
      guard let place = claimedIndex ?? entities.firstIndex(where: { memory.claimed[$0] == nil }) else { return nil }
      memory.claimed[entities[place]] = creation
      return place
    }
  }

  /// Whether an entity is assigned to a creation other than the given one.
  func isClaimed(_ entity: String, byOtherThan creation: Int64) -> Bool {
    upload.withLock { $0.claimed[entity].map { $0 != creation } ?? false }
  }

  func isSentOnTop(_ request: Int64) -> Bool { upload.withLock { $0.sentOnTop.contains(request) } }
  func noteSentOnTop(_ requests: [Int64]) { upload.withLock { $0.sentOnTop.formUnion(requests) } }

  /// Forgets what concerns only the last upload.
  func forgetLastUpload() {
    upload.withLock { ($0.claimed, $0.sentOnTop, $0.sentWithoutCondition, $0.hasETags) = ([:], [], [], [:]) }
  }
  func recordNameRejection() {
    let now = Double(environment.unixSeconds)
    let isReported = upload.withLock { memory in
      memory.namesRejected = now
      return exchange(&memory.hasReportedNames, with: true)
    }
    if !isReported { report(.requestIDsRejected()) }
  }
  func recordRepeatability() { upload.withLock { $0.supportsRepeatability = true } }

  /// Records that an upload had to do without batches.
  ///
  /// - Parameters:
  ///   - error: the rejection of the last batch; nil if the service responded to batches and executed nothing.
  ///   - hasSent: whether changes were sent without batches.
  func recordBatchRejection(_ error: ODataServiceError?, hasSent: Bool) {
    var rejection = OptionRejection.certain
    if case .http(let status, _)? = error?.category { rejection = OptionRejection(status: status) }
    let now = Double(environment.unixSeconds)
    let isReported = upload.withLock { memory in
      switch rejection {
      case .certain: memory.batchesRejected = now
      case .possible where hasSent:
        memory.batchRejections += 1
        if memory.batchRejections > 1 { memory.batchesRejected = now }
      case .possible, .none: break
      }
      return exchange(&memory.hasReportedBatches, with: true)
    }
    if !isReported { report(.batchesRejected(error)) }
  }

  /// Records that the service has accepted batches.
  func recordBatches() {
    upload.withLock { ($0.batchRejections, $0.batchesRejected, $0.hasReportedBatches) = (0, nil, false) }
  }
}

extension EdmModel {
  /// Whether the metadata state that the service recognizes repeated requests (Repeatability Vocabulary, `Supported`).
  /// An annotation of the action or set takes precedence over one of the container; nil if there is none.
  func declaresRepeatability(_ request: QueuedRequest) -> Bool? {
    guard let container = defaultContainer?.qualifiedName else { return nil }
    var targets = [container]
    let first = request.target.path.split(separator: "/").first.map { $0.prefix { $0 != "(" && $0 != "?" } }
    let set = request.entity?.table.split(separator: "/").first ?? request.target.row?.table.split(separator: "/").first
    if let name = set ?? first { targets.insert("\(container)/\(name)", at: 0) }
    if request.operation == .action, let last = request.target.path.split(separator: "/").last {
      targets.insert(String(last.prefix { $0 != "(" && $0 != "?" }), at: 0)
    }
    for target in targets {
      guard let declared = annotation("Org.OData.Repeatability.V1.Supported", target: target) else { continue }
      return declared.value?.text != "false"
    }
    return nil
  }

  fileprivate var declaresBatchSupport: Bool {
    guard let container = defaultContainer?.qualifiedName else { return true }
    return annotation("Org.OData.Capabilities.V1.BatchSupported", target: container)?.value?.text != "false"
  }
}
