import LarderOData
import LarderStorage
import Testing

@testable import LarderOffline

@Suite("$apply: edge cases", .timeLimit(.minutes(1)))
struct ApplyEdgeTests {
  /// Sales with numbers of all kinds, and one without anything.
  private static func rig() async throws -> ApplyRig {
    var dataSet = ApplySales.people()
    let rows: [[String: ODataValue]] = [
      ["Units": .int64(.max), "Amount": .decimal(ODataDecimal("0.1") ?? 0), "Weight": .double(0.5)],
      ["Units": .int64(.max), "Amount": .decimal(ODataDecimal("0.20") ?? 0), "Weight": .double(.infinity)],
      ["Units": .int64(2), "Amount": .decimal(ODataDecimal("0.2") ?? 0), "CustomerID": .string("C1")],
      [:],
    ]
    for (place, row) in rows.enumerated() {
      _ = dataSet.add("Sales", "S.Sale", row.merging(["ID": .int32(Int32(place + 1))]) { one, _ in one })
    }
    return try await ApplyRig(dataSet)
  }

  @Test(
    "A number of rows is a positive integer, a percentage above 0 and up to 100 (§3.3.1)",
    arguments: [
      ("topcount(0,Amount)", false), ("bottomcount(-1,Amount)", false), ("topcount(1.5,Amount)", false),
      ("topcount(1,Amount)", true), ("toppercent(0,Amount)", false), ("toppercent(100.5,Amount)", false),
      ("bottompercent(-5,Amount)", false), ("bottompercent(100,Amount)", true), ("topsum(-1,Amount)", true),
      ("groupby((CustomerID),topcount(0,Amount))", false),
    ])
  func limits(_ apply: String, _ isRight: Bool) async throws {
    let rig = try await ApplyEdgeTests.rig()
    let error = { () -> OfflineODataError? in
      do { _ = try rig.plan("Sales?$apply=" + apply) } catch { return error as? OfflineODataError }
      return nil
    }()
    #expect(isRight ? error == nil : error?.category == .invalidInput, "\(error as Any)")
  }

  @Test(
    "Sums are exact beyond 64 bits and binary fractions; nulls are skipped",
    arguments: [
      ("aggregate(Units with sum as U)", #"{"U":18446744073709551616}"#),
      ("aggregate(Amount with sum as A,Amount with countdistinct as D)", #"{"A":0.50,"D":2}"#),
      ("aggregate(Weight with max as W,Weight with sum as S)", #"{"W":"INF","S":"INF"}"#),
      ("aggregate(Amount with min as M,$count as N)", #"{"M":0.1,"N":4}"#),
      // Equal amounts are one group, however they are written; null is a group too.
      ("groupby((Amount))/aggregate($count as N)", #"{"N":3}"#),
      (
        "groupby((Customer/Name),aggregate($count as N))", #"{"Customer":null,"N":3},{"Customer":{"Name":"Joe"},"N":1}"#
      ),
      ("groupby((Customer),aggregate($count as N))&$select=N", #"{"N":3},{"N":1}"#),
      ("filter(ID gt 9)/groupby((Customer/Name),aggregate($count as N))", ""),
      ("compute(ID mod 2 as Odd)/groupby((Odd),aggregate($count as N))", #"{"Odd":0,"N":2},{"Odd":1,"N":2}"#),
    ])
  func values(_ apply: String, _ expected: String) async throws {
    #expect(try await Self.rig().result("Sales?$apply=" + apply) == expected)
  }

  @Test("The result of $apply is counted, as a resource and together with the rows")
  func counts() async throws {
    let rig = try await ApplyRig()
    let result = try await rig.rig.result(try rig.plan("Sales/$count?$apply=groupby((Customer/Country))").0)
    #expect(result.count == 2)
    let beside = try await rig.rig.result(
      try rig.plan("Sales?$apply=groupby((Product/Name))&$count=true&$top=1").0)
    #expect(beside.count == 3 && beside.rows.count == 1)
  }

  @Test("Computed rows are paged, each occurs once")
  func pages() async throws {
    let rig = try await ApplyRig()
    let url = "Sales?$apply=groupby((Customer/Country,Product/Name),aggregate(Amount with sum as T))&$orderby=T desc"
    let pages = try await rig.pages(url, size: 2, of: "T")
    #expect(pages == [["12", "5"], ["3", "2"], ["2"]].map { $0.map { .text($0) } })
  }
}
