import LarderOData
import Testing

@testable import LarderOffline

@Suite("aggregate in expressions, $these", .timeLimit(.minutes(1)))
struct ApplyTheseTests {
  @Test(
    "The aggregate of a collection as a value",
    arguments: [
      ("Products?$filter=Sales/aggregate(Amount with sum) gt 4&$select=Name", #"{"Name":"Coffee"},{"Name":"Paper"}"#),
      ("Products?$filter=Sales/aggregate($count) eq 0&$select=Name", #"{"Name":"Pencil"}"#),
      ("Products?$filter=Sales/aggregate(Amount with max) eq null&$select=Name", #"{"Name":"Pencil"}"#),
      (
        "Products?$orderby=Sales/aggregate(Amount with sum) desc&$select=Name&$top=2",
        #"{"Name":"Coffee"},{"Name":"Paper"}"#
      ),
      (
        "Customers?$compute=Sales/aggregate(Product/TaxRate with sum) as Rates&$select=ID,Rates",
        #"{"ID":"C1","Rates":0.26},{"ID":"C2","Rates":0.20},{"ID":"C3","Rates":0.20},{"ID":"C4","Rates":null}"#
      ),
      ("Products?$filter=Sales/$filter(Amount gt 2)/aggregate($count) eq 1&$select=Name", #"{"Name":"Paper"}"#),
    ])
  func values(_ url: String, _ expected: String) async throws {
    #expect(try await ApplyRig().result(url) == expected)
  }

  @Test(
    "$these is the rows that a transformation or $filter starts with",
    arguments: [
      ("Sales?$filter=Amount gt $these/aggregate(Amount with average)&$select=ID", #"{"ID":3},{"ID":4},{"ID":5}"#),
      (
        "Sales?$apply=filter(Customer/Country eq 'Netherlands')/filter(Amount mul 2 gt $these/aggregate(Amount with sum))",
        ""
      ),
      (
        "Sales?$apply=filter(Amount mul 3 ge $these/aggregate(Amount with sum))/aggregate($count as N)", #"{"N":1}"#
      ),
      (
        "Sales?$apply=groupby((Product/Name),aggregate(Amount with sum as T))/filter(T gt $these/aggregate(T with average))",
        #"{"Product":{"Name":"Coffee"},"T":12}"#
      ),
      (
        "Sales?$apply=filter(Amount ge 4)/compute(Amount div $these/aggregate(Amount with sum) as Part)/filter(Amount eq 8)/groupby((Part))",
        #"{"Part":0.5}"#
      ),
      ("Customers('C1')/Sales?$filter=Amount eq $these/aggregate(Amount with max)&$select=ID", #"{"ID":3}"#),
      (
        "Customers?$filter=ID lt 'C3'&$select=ID&$expand=Sales($filter=Amount eq $these/aggregate(Amount with max);$select=ID)",
        #"{"ID":"C1","Sales":[{"ID":3}]},{"ID":"C2","Sales":[{"ID":4}]}"#
      ),
    ])
  func these(_ url: String, _ expected: String) async throws {
    #expect(try await ApplyRig().result(url) == expected)
  }

  @Test(
    "An expression inside $these may refer to the enclosing row",
    arguments: [
      ("Sales?$filter=not $these/any(x:x/Amount gt Amount)&$select=ID", #"{"ID":4}"#),
      ("Sales?$filter=$these/all(x:x/Amount le Amount)&$select=ID", #"{"ID":4}"#),
      ("Sales?$compute=Amount mul 2 as D&$filter=not $these/any(x:x/D gt D)&$select=ID", #"{"ID":4}"#),
      (
        "Sales?$compute=$these/$count($filter=Amount gt $it/Amount) as Rank&$select=ID,Rank&$orderby=Rank,ID&$top=4",
        #"{"ID":4,"Rank":0},{"ID":3,"Rank":1},{"ID":5,"Rank":1},{"ID":2,"Rank":3}"#
      ),
      (
        "Sales?$filter=Amount mul 3 gt $these/$filter(Customer/Country eq $it/Customer/Country)/aggregate(Amount with sum)&$select=ID",
        #"{"ID":4},{"ID":6},{"ID":8}"#
      ),
      (
        "Sales?$apply=filter(Customer/Country eq 'Netherlands')/filter($these/$count($filter=Amount gt $it/Amount) gt 0)/aggregate($count as N,Amount with max as M)",
        #"{"N":1,"M":1}"#
      ),
      (
        "Customers?$select=ID&$expand=Sales($filter=not $these/any(x:x/Amount gt Amount);$select=ID)",
        #"{"ID":"C1","Sales":[{"ID":3}]},{"ID":"C2","Sales":[{"ID":4}]},{"ID":"C3","Sales":[{"ID":6},{"ID":8}]},{"ID":"C4","Sales":[]}"#
      ),
      (
        "Sales?$compute=Amount mul 2 as D&$filter=D mul 2 gt $these/aggregate(D with sum from Customer with max)&$select=ID",
        #"{"ID":4}"#
      ),
    ])
  func around(_ url: String, _ expected: String) async throws {
    #expect(try await ApplyRig().result(url) == expected)
  }

  @Test("$these in the $filter of $count is the rows that are counted")
  func counted() async throws {
    let url = "Customers?$filter=Sales/$count($filter=Amount gt $these/aggregate(Amount with average)) gt 1&$select=ID"
    #expect(try await ApplyRig().result(url) == #"{"ID":"C3"}"#)
  }

  @Test("A sequence of conditions that each repeat all earlier ones is rejected before its SQL is written")
  func growth() async throws {
    let rig = try await ApplyRig()
    let steps = [String](repeating: "filter(Amount le $these/aggregate(Amount with max))", count: 60)
    let error = #expect(throws: OfflineODataError.self) {
      try rig.plan("Sales?$apply=" + steps.joined(separator: "/"))
    }
    #expect(error?.category == .notSupported)
  }
}
