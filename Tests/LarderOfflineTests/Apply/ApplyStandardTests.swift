import LarderOData
import Testing

@testable import LarderOffline

@Suite("$apply on the standard's example data", .timeLimit(.minutes(1)))
struct ApplyStandardTests {
  @Test(
    "aggregate (§3.2.1)",
    arguments: [
      ("Sales?$apply=aggregate(Amount with sum as Total,Amount with max as MxA)", #"{"Total":24,"MxA":8}"#),
      ("Sales?$apply=aggregate(Amount mul Product/TaxRate with sum as Tax)", #"{"Tax":2.08}"#),
      ("Sales?$apply=aggregate(Amount with min as MinAmount)", #"{"MinAmount":1}"#),
      ("Sales?$apply=aggregate(Amount with average as AverageAmount)", #"{"AverageAmount":3}"#),
      ("Sales?$apply=aggregate(Product with countdistinct as DistinctProducts)", #"{"DistinctProducts":3}"#),
      ("Sales?$apply=aggregate($count as SalesCount)", #"{"SalesCount":8}"#),
      // Each entity that a path reaches counts once (§3.2.1.1).
      ("Sales?$apply=aggregate(Product/TaxRate with sum as Rates)", #"{"Rates":0.26}"#),
      ("Products?$apply=aggregate(Sales/Amount with sum as Total,Sales/$count as N)", #"{"Total":24,"N":8}"#),
      ("Products?$apply=aggregate(Tags with countdistinct as Kinds,Tags/$count as N)", #"{"Kinds":2,"N":5}"#),
      ("Sales?$apply=aggregate(Product/Tags/$count as N,$count as S)", #"{"N":4,"S":8}"#),
      // Without rows there is no sum, and the count is 0 (§3.2.1.3).
      (
        "Sales?$apply=filter(Amount gt 100)/aggregate(Amount with sum as S,Amount with min as M,Amount with average as A,$count as N,Product/TaxRate with sum as T,Product with countdistinct as P)",
        #"{"S":null,"M":null,"A":null,"N":0,"T":null,"P":0}"#
      ),
      (
        "Sales?$apply=aggregate(Amount with sum from Time with average as DailyAverage)",
        #"{"DailyAverage":3.428571428571428571428571429}"#
      ),
      (
        "Sales?$apply=aggregate(Amount with average from Time,Product/Name with max as MaxDailyAverage)",
        #"{"MaxDailyAverage":8}"#
      ),
    ])
  func aggregates(_ url: String, _ expected: String) async throws {
    #expect(try await ApplyRig().result(url) == expected)
  }

  @Test(
    "groupby (§3.2.3.1)",
    arguments: [
      (
        "Sales?$apply=groupby((Customer/Country,Product/Name),aggregate(Amount with sum as Total))",
        #"""
        {"Customer":{"Country":"Netherlands"},"Product":{"Name":"Paper"},"Total":3},
        {"Customer":{"Country":"Netherlands"},"Product":{"Name":"Sugar"},"Total":2},
        {"Customer":{"Country":"USA"},"Product":{"Name":"Coffee"},"Total":12},
        {"Customer":{"Country":"USA"},"Product":{"Name":"Paper"},"Total":5},
        {"Customer":{"Country":"USA"},"Product":{"Name":"Sugar"},"Total":2}
        """#
      ),
      (
        "Sales?$apply=groupby((Product/Name,Amount))",
        #"""
        {"Product":{"Name":"Coffee"},"Amount":4},{"Product":{"Name":"Coffee"},"Amount":8},
        {"Product":{"Name":"Paper"},"Amount":1},{"Product":{"Name":"Paper"},"Amount":2},
        {"Product":{"Name":"Paper"},"Amount":4},{"Product":{"Name":"Sugar"},"Amount":2}
        """#
      ),
      (
        "Sales?$apply=groupby((Product/Name),aggregate(Amount with sum as Total))/orderby(Total desc)",
        #"""
        {"Product":{"Name":"Coffee"},"Total":12},{"Product":{"Name":"Paper"},"Total":8},
        {"Product":{"Name":"Sugar"},"Total":4}
        """#
      ),
      (
        "Sales?$apply=groupby((Customer/Country),aggregate(Product/TaxRate with sum as Rates,$count as N))",
        #"{"Customer":{"Country":"Netherlands"},"Rates":0.20,"N":3},{"Customer":{"Country":"USA"},"Rates":0.26,"N":5}"#
      ),
      (
        "Products?$apply=groupby((Category/Name),aggregate(Sales/$count as N,Sales/Amount with sum as Total))",
        #"{"Category":{"Name":"Food"},"N":4,"Total":16},{"Category":{"Name":"Non-Food"},"N":4,"Total":8}"#
      ),
      (
        "Products?$apply=groupby((Name),aggregate(Sales/$count as N,Sales/Amount with sum as Total))",
        #"""
        {"Name":"Coffee","N":2,"Total":12},{"Name":"Paper","N":4,"Total":8},{"Name":"Pencil","N":0,"Total":null},
        {"Name":"Sugar","N":2,"Total":4}
        """#
      ),
      (
        "Customers?$apply=groupby((Place/City))",
        #"{"Place":null},{"Place":{"City":"Netherlands"}},{"Place":{"City":"USA"}}"#
      ),
      (
        "Sales?$apply=groupby((Customer),aggregate(Amount with sum as Total))&$expand=Customer($select=Name)",
        #"""
        {"Total":7,"Customer":{"Name":"Joe"}},{"Total":12,"Customer":{"Name":"Sue"}},
        {"Total":5,"Customer":{"Name":"Sue"}}
        """#
      ),
    ])
  func groups(_ url: String, _ expected: String) async throws {
    #expect(try await ApplyRig().result(url) == expected.replacing("\n", with: ""))
  }

  @Test(
    "Transformations in each group",
    arguments: [
      ("groupby((Customer/Country),topcount(1,Amount))&$select=ID", #"{"ID":4},{"ID":6}"#),
      (
        "groupby((Customer/Country),orderby(Amount desc)/top(2))&$orderby=ID&$select=ID",
        #"{"ID":3},{"ID":4},{"ID":6},{"ID":8}"#
      ),
      (
        "groupby((Product/Name),filter(Amount gt 2)/aggregate(Amount with sum as T,$count as N))",
        #"""
        {"Product":{"Name":"Coffee"},"T":12,"N":2},{"Product":{"Name":"Paper"},"T":4,"N":1},
        {"Product":{"Name":"Sugar"},"T":null,"N":0}
        """#
      ),
      (
        "groupby((Customer/Country),groupby((Product/Name),aggregate(Amount with sum as T))/topcount(1,T))",
        #"""
        {"Customer":{"Country":"Netherlands"},"Product":{"Name":"Paper"},"T":3},
        {"Customer":{"Country":"USA"},"Product":{"Name":"Coffee"},"T":12}
        """#
      ),
      ("groupby((Customer/Country),topsum(3,Amount))&$select=ID", #"{"ID":4},{"ID":6},{"ID":8}"#),
    ])
  func inGroups(_ apply: String, _ expected: String) async throws {
    #expect(try await ApplyRig().result("Sales?$apply=" + apply) == expected.replacing("\n", with: ""))
  }

  /// Of two sales with the same amount, the one with the lower key is first; the standard leaves this to the service.
  @Test(
    "Transformations that select a subset (§3.3)",
    arguments: [
      ("bottomcount(2,Amount)", [1, 7]), ("topcount(2,Amount)", [3, 4]),
      ("bottompercent(50,Amount)", [1, 2, 3, 6, 7, 8]),
      ("toppercent(50,Amount)", [3, 4]), ("bottomsum(7,Amount)", [1, 2, 6, 7, 8]), ("topsum(15,Amount)", [3, 4, 5]),
      ("filter(Amount gt 3)", [3, 4, 5]), ("orderby(Customer/Name desc)/skip(2)/top(2)", [6, 7]),
      ("orderby(Customer/Name desc)/top(2)", [4, 5]), ("top(0)", []), ("identity", [1, 2, 3, 4, 5, 6, 7, 8]),
      ("topcount(4,Amount)/filter(Amount lt 8)/bottomcount(2,ID)", [2, 3]),
      ("compute(Amount mul 2 as Twice)/filter(Twice gt 4)", [3, 4, 5]),
    ])
  func subsets(_ apply: String, _ expected: [Int]) async throws {
    let text = try await ApplyRig().result("Sales?$apply=\(apply)&$select=ID")
    #expect(text == expected.map { #"{"ID":\#($0)}"# }.joined(separator: ","))
  }
}
