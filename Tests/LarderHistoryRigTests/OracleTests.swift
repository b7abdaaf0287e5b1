import LarderHTTP
import LarderOData
import LarderOffline
import LarderService
import Testing

@testable import LarderHistoryRig

/// What counts as done twice, and what a store could not know.
@Suite("The oracle of histories", .timeLimit(.minutes(1)))
struct OracleTests {
  /// A history in which requests are sent by hand.
  private struct Hand {
    let run: HistoryRun

    init(_ kind: ModelKind) throws {
      var plan = HistoryPlan(seed: 1, theme: .everything)
      plan.kind = kind
      plan.steps = []
      run = try HistoryRun(plan)
    }

    /// A change of store A whose response was lost, and that an upload has settled at last.
    func add(_ operation: Change.Operation, _ edit: (inout Change) -> Void) {
      var change = Change(number: run.changes.count, store: "A", operation: operation, set: "Orders")
      (change.outcome, change.faults) = (.sent, [.responseLost])
      edit(&change)
      run.changes.append(change)
    }

    func send(
      _ actor: String, _ method: String, _ path: String, _ body: String, mark: Int? = nil, isLost: Bool = true
    ) {
      var request = ModelRequest(method, path, body: Array(body.utf8))
      if let mark { request.fields["Mark"] = "m\(mark)" }
      let response = run.model.respond(to: request, from: actor, isLost: { _ in isLost })
      #expect(!response.isError, "\(response)")
    }

    /// What a download of store A has brought.
    func download() {
      let service = run.model.service
      run.sightings.append(Sighting(store: "A", number: service.effects.count, entities: service.entities))
    }

    /// Whether a change is judged as done twice.
    var isTwice: Bool {
      run.judgeEffects()
      return run.findings.contains { $0.rule == .twice }
    }

    /// Whether a change is judged as done twice, which no store could avoid.
    var isUnavoidable: Bool { !isTwice && run.unavoidable.contains { $0.rule == .twice } }
  }

  @Test(
    "An update of a link alone may be sent again each time that another client has set the link, and nothing else shows",
    arguments: [[1, 3], [1, 3, 1]], [nil, 0, 1])
  func link(others: [Int], shown: Int?) throws {
    var kind = ModelKind()
    (kind.hasLinks, kind.hasETags) = (true, false)
    let hand = try Hand(kind)
    hand.add(.update) { change in
      change.target = .there(.init("Orders", "2"))
      (change.isOfLinkAlone, change.seen) = (true, ["Buyer": ""])
    }
    for (place, buyer) in others.enumerated() {
      hand.send("A", "PATCH", "Orders(2)", "{\"Buyer@odata.bind\":\"Buyers(2)\"}", mark: 0)
      hand.send("other", "PUT", "Orders(2)/Buyer/$ref", "{\"@odata.id\":\"Buyers(\(buyer))\"}")
      // A change of a property shows at once that the entity is another's.
      if place == shown { hand.send("other", "PATCH", "Orders(2)", "{\"Note\":\"theirs\"}") }
    }
    hand.send("A", "PATCH", "Orders(2)", "{\"Buyer@odata.bind\":\"Buyers(2)\"}", mark: 0)
    #expect(hand.isTwice == (shown != nil))
  }

  /// What another client, or the store, does before the last repetition of one of two equal creations.
  enum Twist: String, Sendable, CaseIterable {
    case none
    /// The first repetition, which other clients have not changed, shows.
    case shows
    /// A download has brought both.
    case seen
    /// A download has brought both, after another client has set a property of them that they did not send.
    case seenBeside
    /// The response to the other creation came.
    case reported
    /// The other creation was lost first; when it arrived, the response to it came.
    case reportedAtLast
    /// They were sent apart.
    case apart
  }

  @Test(
    "Of two equal creations that were lost together, one may be sent again while one at most shows",
    arguments: Twist.allCases)
  func twins(twist: Twist) throws {
    let hand = try Hand(ModelKind())
    for number in 0..<2 {
      hand.add(.create) { change in
        (change.twin, change.texts) = (1 - number, ["m8eutfcj"])
        if twist == .reported, number == 0 { change.faults = [] }
      }
    }
    let body = "{\"Name\":\"m8eutfcj\",\"Stock\":1}"
    hand.send("A", "POST", "Orders", body, mark: 0, isLost: twist != .reported && twist != .reportedAtLast)
    if twist == .apart { hand.send("other", "PATCH", "Orders(1)", "{\"Note\":\"theirs\"}") }
    hand.send("A", "POST", "Orders", body, mark: 1)
    if twist == .seenBeside {
      for key in 1001...1002 { hand.send("other", "PATCH", "Orders(\(key))", "{\"Note\":\"theirs\"}") }
    }
    if twist == .seen || twist == .seenBeside { hand.download() }
    hand.send("other", "PATCH", "Orders(1001)", "{\"Name\":\"theirs\"}")
    hand.send("A", "POST", "Orders", body, mark: 1)
    if twist != .shows { hand.send("other", "PATCH", "Orders(1003)", "{\"Name\":\"theirs too\"}") }
    hand.send("A", "POST", "Orders", body, mark: 1)
    #expect(hand.isTwice == (twist != .none))
  }

  @Test("A creation is done twice if a later one of its entities shows, though the first does not")
  func laterShows() throws {
    let hand = try Hand(ModelKind())
    hand.add(.create) { $0.texts = ["m0text"] }
    for key in 1001...1003 {
      hand.send("A", "POST", "Orders", "{\"Name\":\"m0text\"}", mark: 0)
      if key == 1001 { hand.send("other", "PATCH", "Orders(1001)", "{\"Name\":\"theirs\"}") }
    }
    #expect(hand.isTwice)
  }

  /// What another client does between two creations of one change.
  enum Between: String, Sendable, CaseIterable {
    case nothing, aboutAnother
    /// A property that the creation left out.
    case beside
    /// One of the properties that it sent. A text still shows.
    case overwrites
    /// The text of the entity. That of an entity created together with it, by which no look-up finds it, still shows.
    case hides
  }

  @Test(
    "A lost creation that is sent again is unavoidable only if another client wrote over all its texts before",
    arguments: Between.allCases, [true, false])
  func obscured(between: Between, isLost: Bool) throws {
    let hand = try Hand(ModelKind())
    hand.add(.createDeep) { ($0.texts, $0.childTexts) = (["m0text", "c0m0item"], ["c0m0item"]) }
    let body = "{\"Name\":\"m0text\",\"Stock\":1,\"Items\":[{\"Text\":\"c0m0item\"}]}"
    hand.send("A", "POST", "Orders", body, mark: 0, isLost: isLost)
    switch between {
    case .nothing: break
    case .aboutAnother: hand.send("other", "PATCH", "Orders(1)", "{\"Name\":\"theirs\"}")
    case .beside: hand.send("other", "PATCH", "Orders(1001)", "{\"Note\":\"theirs\"}")
    case .overwrites: hand.send("other", "PATCH", "Orders(1001)", "{\"Stock\":2}")
    case .hides: hand.send("other", "PATCH", "Orders(1001)", "{\"Name\":\"theirs\"}")
    }
    hand.send("A", "POST", "Orders", body, mark: 0, isLost: false)
    hand.send("other", "PATCH", "Orders(1003)", "{\"Name\":\"theirs too\"}")
    let isObscured = isLost && between == .hides
    #expect(hand.isTwice == !isObscured)
    #expect(hand.isUnavoidable == isObscured)
  }

  @Test(
    "A creation that the service denies is done twice if the service shows all that was sent, not a form of it",
    arguments: ["M0TEXT", "m0text"])
  func denied(text: String) throws {
    var kind = ModelKind()
    (kind.rollsBack, kind.texts) = (false, .uppercased)
    let hand = try Hand(kind)
    hand.add(.create) { $0.texts = [text] }
    hand.send("A", "POST", "Orders", "{\"Name\":\"\(text)\"}", mark: 0, isLost: false)
    hand.run.model.change { $0.effects[$0.effects.count - 1].isDenied = true }
    hand.send("A", "POST", "Orders", "{\"Name\":\"\(text)\"}", mark: 0, isLost: false)
    #expect(hand.isTwice == (text == "M0TEXT"))
    #expect(hand.isUnavoidable == (text != "M0TEXT"))
  }

  @Test(
    "Findings that no store can avoid fail a run if there are many",
    arguments: [(400, 8, false), (400, 9, true), (20, 2, false), (20, 3, true), (100, 2, false), (0, 0, false)])
  func manyUnavoidable(histories: Int, unavoidable: Int, isTooMany: Bool) {
    let result = HistoryBatch.Result(histories: histories, unavoidable: (0..<unavoidable).map { UInt64($0) })
    #expect(result.hasTooManyUnavoidable == isTooMany)
  }

  @Test("A media entity whose bytes another client has replaced is not as it was made", arguments: [false, true])
  func replacedBytes(isReplaced: Bool) throws {
    var kind = ModelKind()
    kind.hasMedia = true
    let hand = try Hand(kind)
    hand.add(.create) { ($0.set, $0.texts) = ("Photos", ["m0text"]) }
    hand.send("A", "POST", "Photos", "bytes", mark: 0)
    hand.send("A", "PATCH", "Photos(1001)", "{\"Name\":\"m0text\"}", mark: 0)
    if isReplaced { hand.send("other", "PUT", "Photos(1001)/$value", "theirs") }
    let photo = try #require(hand.run.model.service.entities[.init("Photos", "1001")])
    #expect(hand.run.isAsMade(photo, hand.run.changes[0]) != isReplaced)
  }

  @Test(
    "A truncated response counts as lost if the store needs its content, and gets an error instead",
    arguments: [(false, false, false), (false, true, true), (true, false, false), (true, true, false)])
  func endedEarly(isSilent: Bool, hasContent: Bool, isLost: Bool) async throws {
    var kind = ModelKind()
    kind.insertion = hasContent ? .whole : .noContent
    let model = SharedModel(HistoryRun.service(kind))
    let store = try StoreHand("A", model, seed: 1)
    try await store.open()
    try await store.provider.create(ODataEntity(properties: [ODataProperty("Name", .string("made"))]), in: "Orders")
    store.transport.arm(.truncated(isSilent: isSilent), after: 0, takesReads: false) {}
    let report = try? await store.provider.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(store.transport.disarm() != nil)
    #expect((report?.sent != 1) == isLost && model.service.effects.last?.isLost == isLost)
    try await store.provider.close()
  }

  @Test(
    "Histories whose finding was corrected, or was none, find nothing",
    arguments: [54_000_001, 54_000_053, 54_000_527, 56_001_462, 59_000_397, 55_000_140, 55_000_441, 71_000_108])
  func seeds(seed: UInt64) async throws {
    let run = try HistoryRun(HistoryPlan(seed: seed))
    let findings = await run.carryOut()
    #expect(findings.isEmpty, "\(run.trace)")
  }
}
