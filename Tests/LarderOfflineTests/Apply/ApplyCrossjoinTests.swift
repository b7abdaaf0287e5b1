import LarderOData
import Testing

@testable import LarderOffline

@Suite("$apply on $crossjoin", .timeLimit(.minutes(1)))
struct ApplyCrossjoinTests {
  private static let sold = "filter(Products/ID eq Sales/ProductID)"

  @Test(
    "Rows of several sets are filtered, computed, grouped and aggregated (§3.2, URL Conventions 4.01 §4.15)",
    arguments: [
      (
        sold + "/groupby((Products/Name),aggregate(Sales/Amount with sum as Total))",
        #"""
        {"Products":{"Name":"Coffee"},"Total":12},{"Products":{"Name":"Paper"},"Total":8},
        {"Products":{"Name":"Sugar"},"Total":4}
        """#
      ),
      (
        sold + "/groupby((Products/Category/Name,Sales/Customer/Country),aggregate($count as N))",
        #"""
        {"Products":{"Category":{"Name":"Food"}},"Sales":{"Customer":{"Country":"Netherlands"}},"N":1},
        {"Products":{"Category":{"Name":"Food"}},"Sales":{"Customer":{"Country":"USA"}},"N":3},
        {"Products":{"Category":{"Name":"Non-Food"}},"Sales":{"Customer":{"Country":"Netherlands"}},"N":2},
        {"Products":{"Category":{"Name":"Non-Food"}},"Sales":{"Customer":{"Country":"USA"}},"N":2}
        """#
      ),
      (
        sold + "/compute(Sales/Amount mul Products/TaxRate as Tax)/aggregate(Tax with sum as T,$count as N)",
        #"{"T":2.08,"N":8}"#
      ),
      // Each entity counts once, however often it occurs in a row (§3.2.1.1).
      ("aggregate($count as N,Sales/Amount with sum as S,Sales/Amount with max as M)", #"{"N":32,"S":24,"M":8}"#),
      ("identity/filter(Products/ID eq 'P4')/aggregate($count as N)", #"{"N":8}"#),
      (
        sold + "/topcount(2,Sales/Amount)/aggregate(Sales/Amount with sum as S,$count as N)",
        #"{"S":12,"N":2}"#
      ),
      (
        sold + "/concat(aggregate(Sales/Amount with sum as S),groupby((Products/Color))/aggregate($count as C))",
        #"{"S":24},{"C":2}"#
      ),
      (
        sold + "/orderby(Sales/ID desc)/top(1)/groupby((Sales/ID,Products/Name))",
        #"{"Sales":{"ID":8},"Products":{"Name":"Paper"}}"#
      ),
    ])
  func transformations(_ apply: String, _ expected: String) async throws {
    let wanted = expected.replacing("\n", with: "")
    #expect(try await ApplyRig().result("$crossjoin(Products,Sales)?$apply=" + apply) == wanted)
  }

  @Test("Other options apply to the result, whose rows still contain the sets")
  func options() async throws {
    let rig = try await ApplyRig()
    let rows = "$crossjoin(Products,Sales)?$apply=" + Self.sold
    #expect(
      try await rig.result(rows + "&$filter=Sales/Amount gt 3&$orderby=Sales/ID desc&$top=1&$expand=Sales($select=ID)")
        == #"{"Sales":{"ID":5}}"#)
    #expect(
      try await rig.result(
        "$crossjoin(Customers,Products)?$apply=filter(Customers/ID eq 'C1')/groupby((Customers/Name,Products/Color))")
        == #"{"Customers":{"Name":"Joe"},"Products":{"Color":"Black"}},"#
        + #"{"Customers":{"Name":"Joe"},"Products":{"Color":"Brown"}},"#
        + #"{"Customers":{"Name":"Joe"},"Products":{"Color":"White"}}"#)
    #expect(
      try await rig.result(
        rows + "/groupby((Products/Name),aggregate(Sales/Amount with sum as T))&$filter=T gt 4&$orderby=T&$count=true"
      )
      .hasSuffix(#"[{"Products":{"Name":"Paper"},"T":8},{"Products":{"Name":"Coffee"},"T":12}]}"#))
  }

  @Test("Constructs without a meaning on rows of several sets are rejected by name")
  func rejections() async throws {
    let rig = try await ApplyRig()
    let error = #expect(throws: OfflineODataError.self) {
      try rig.plan("$crossjoin(Products,Sales)?$apply=search(Sugar)")
    }
    #expect(error?.category == .notSupported)
  }
}
