import LarderOData
import Testing

@testable import LarderOffline

/// The table of uncertain outcomes, cell by cell.
@Suite("The table of uncertain outcomes", .timeLimit(.minutes(1)))
struct UncertainOutcomeTests {
  typealias Evidence = UncertainOutcome.Evidence

  struct Row: Sendable, CustomTestStringConvertible {
    let evidence: Evidence
    /// Of a creation, a creation under the service's key, a change, a deletion and a call; without and under an ETag where
    /// that makes a difference.
    let outcomes: [[UncertainOutcome]]

    init(_ evidence: Evidence, _ outcomes: [UncertainOutcome]...) {
      (self.evidence, self.outcomes) = (evidence, outcomes)
    }
    var testDescription: String { "\(evidence)" }
  }

  private static let overtaken = UncertainOutcome.conflict(mayHaveTakenEffect: true)
  private static let beside = UncertainOutcome.conflict(mayHaveTakenEffect: false)

  static let table: [Row] = [
    Row(.inconclusive, [.unclear], [.unclear], [.unclear], [.unclear, .notDone], [.unclear]),
    Row(.absent, [.notDone], [.notDone], [overtaken], [.done], [.unclear]),
    Row(.gone, [overtaken], [.unclear], [overtaken], [.done], [.unclear]),
    Row(.asSent, [.done], [.done], [.done], [.done], [.unclear]),
    Row(.sameVersion, [.unclear], [.unclear], [.notDone], [.notDone], [.unclear]),
    Row(.asBefore, [.unclear], [.unclear], [.notDone, beside], [.notDone, beside], [.unclear]),
    Row(.different, [overtaken], [.unclear], [overtaken], [overtaken], [.unclear]),
    Row(.ambiguous, [.unclear], [.unclear], [.unclear], [.unclear], [.unclear]),
  ]

  @Test("each kind of request has its outcome", arguments: table)
  func cells(row: Row) {
    for (kind, outcomes) in zip(UncertainOutcome.Kind.allCases, row.outcomes) {
      #expect(UncertainOutcome.of(kind, row.evidence, isConditional: false) == outcomes[0], "\(kind)")
      #expect(UncertainOutcome.of(kind, row.evidence, isConditional: true) == outcomes[outcomes.count - 1], "\(kind)")
    }
  }

  @Test("every evidence is in the table")
  func whole() {
    #expect(Self.table.map(\.evidence) == Evidence.allCases)
    #expect(Self.table.allSatisfy { $0.outcomes.count == UncertainOutcome.Kind.allCases.count })
  }

  @Test(
    "an entity that is there: its values count first, then the ETag, then its earlier values",
    arguments: [
      (nil, nil, true, false, .asSent), ("2", "1", true, false, .asSent), ("1", "1", true, true, .asSent),
      ("1", "1", false, false, .sameVersion), ("1", "1", false, nil, .sameVersion),
      ("2", "1", false, true, .asBefore), (nil, nil, false, true, .asBefore),
      ("2", "1", false, false, .different), (nil, nil, false, false, .different), ("2", "1", false, nil, .different),
      (nil, "1", false, nil, .ambiguous), ("2", nil, false, nil, .ambiguous), (nil, nil, false, nil, .ambiguous),
    ] as [(String?, String?, Bool, Bool?, Evidence)])
  func entities(etag: String?, condition: String?, isAsSent: Bool, isAsBefore: Bool?, evidence: Evidence) {
    #expect(Evidence(etag: etag, condition: condition, isAsSent: isAsSent, isAsBefore: isAsBefore) == evidence)
  }

  // MARK: Look-ups

  private func sent(_ values: [(String, ODataValue)]) -> QueuedEntity {
    QueuedEntity(properties: values.map { QueuedProperty(name: $0.0, value: QueuedValue($0.1)) })
  }

  @Test("an entity with complex and collection properties alone is looked up by the values inside")
  func nested() {
    let address = ODataComplexValue(properties: [
      ODataProperty("City", .string("Rome")), ODataProperty("Tags", .collection([.string("a")])),
      ODataProperty("Place", .complex(ODataComplexValue(properties: [ODataProperty("Floor", .int32(3))]))),
    ])
    let entity = sent([("Tags", .collection([.string("a")])), ("Address", .complex(address))])
    for version in [ODataVersion.v2, .v4] {
      #expect(LookupFilter.text(entity, version: version) == "Address/City eq 'Rome' and Address/Place/Floor eq 3")
    }
    #expect(LookupFilter.text(sent([("Tags", .collection([]))]), version: .v4) == nil)
  }

  @Test("what agrees in a value that can distinguish entities may be the entity that was sent")
  func agreement() {
    let mine = sent([
      ("Name", .string("Rare name")), ("Stock", .int32(5)), ("IsOpen", .boolean(true)), ("Note", .null),
      ("Used", .int32(0)),
    ])
    func agreement(_ name: String, _ stock: Int32, _ isOpen: Bool) -> Set<String> {
      SentContent.agreement(
        mine,
        ODataEntity(properties: [
          ODataProperty("Name", .string(name)), ODataProperty("Stock", .int32(stock)),
          ODataProperty("IsOpen", .boolean(isOpen)), ODataProperty("Note", .null), ODataProperty("Used", .int32(0)),
        ]))
    }
    #expect(agreement("RARE NAME", 9, false) == ["Name", "Used"])
    #expect(agreement("Rare", 9, false) == ["Name", "Used"])
    #expect(agreement("Rare name, longer", 9, true) == ["Name", "IsOpen", "Used"])
    #expect(agreement("Other", 5, true) == ["Stock", "IsOpen", "Used"])
    #expect(agreement("Other", 9, true).isEmpty)
  }
}
