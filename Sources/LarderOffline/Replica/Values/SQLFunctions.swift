// The functions and collations that the store adds to SQLite's SQL. All functions are deterministic and innocuous, so
// indexes and views may use them. If an argument is NULL the result is NULL, unless a line says otherwise. Values have
// the same form in SQL as in their columns (``ColumnStorage``); `number` is INTEGER, REAL or the TEXT of a decimal. The
// storage class distinguishes them, so a function works for all numeric types and for dynamic properties. The result of
// a function has no collation: if it is a decimal, a timestamp or a duration, the statement writes COLLATE after it in
// each comparison, order and group. If a function fails ("division by zero"), the statement fails with
// `unexpectedValue`. A function that is called with a ``FailedCall`` also reports the row.
//
// Collations
//   larder_decimal    TEXT of decimals, numeric: 1.0 = 1.00, 1E1 = 10; -INF first, INF, then NaN
//   larder_moment     dates, date-times with an offset (by instant) or without; also negative years and
//                     years of 5 digits and more
//   larder_duration   durations by length, including those of V2's Edm.Time
//   Texts that are not such values come last, by bytes. Strings, guids and times of day compare by bytes: BINARY.
//
// Numbers (URL Conventions 4.01 §5.1.1.2, §5.1.1.9)
//   larder_add(a,b) larder_sub(a,b) larder_mul(a,b) larder_mod(a,b) larder_neg(a)
//     INTEGER with INTEGER is INTEGER and fails beyond 64 bits; a decimal TEXT with INTEGER or TEXT is an exact decimal;
//     with a REAL it is REAL. mod by zero always fails; its result has the sign of the left operand.
//     Plain SQL `+` `-` `*` and unary `-` are equivalent if both types are Int32 or smaller. For REAL, plain SQL is
//     equivalent if neither operand is INF or NaN. A column may contain these, so this is certain only for constants.
//   larder_div(a,b)     INTEGER by INTEGER: whole, towards zero. Decimals: exact, or 28 significant digits, half to even.
//                       INTEGER and decimals fail for a division by zero; REAL gives INF, -INF, NaN
//   larder_divby(a,b)   as larder_div, but integers are divided as decimals, and a division by zero gives INF, -INF, NaN
//   larder_compare(a,b) -1, 0, 1: exact for all pairs of classes; NULL if one is NaN
//   larder_round(a) larder_floor(a) larder_ceiling(a)   in the argument's class; half away from zero
//   larder_to_decimal(a)  number to decimal TEXT, exact (REAL: shortest digits). For comparing INTEGER with decimals by
//                       COLLATE larder_decimal
//   larder_to_real(a)   number to REAL, correctly rounded (SQLite's CAST is not); decimal INF too; NaN is the TEXT 'NaN'
//   NaN: it is the TEXT 'NaN', in REAL columns and in results of functions. `x <> x` is never true; write
//   typeof(x) = 'text'.
//
// Dates, timestamps and durations (§5.1.1.2.1, §5.1.1.2.2, §5.1.1.8)
//   larder_moment_add(m,d) larder_moment_sub(m,d)  date, dateTime or dateTimeOffset TEXT, and a duration; keeps the
//                             kind and the offset
//   larder_moment_diff(a,b)   a - b as a duration; of two dates, two dateTimes, two dateTimeOffsets
//   larder_duration_add(d,e) larder_duration_sub(d,e) larder_duration_neg(d)
//   larder_duration_mul(d,number) larder_duration_div(d,number)   to the picosecond, half to even; fails for a
//                             division by zero
//   larder_year(m) larder_month(m) larder_day(m)       INTEGER, on the value's own clock
//   larder_hour(m) larder_minute(m) larder_second(m)   of timestamps, times of day, and V2's Edm.Time (a duration)
//   larder_fractionalseconds(m)  decimal TEXT, at least '0'
//   larder_totaloffsetminutes(m) INTEGER
//   larder_date(m) larder_time(m)   date TEXT, timeOfDay TEXT
//   larder_totalseconds(d)       decimal TEXT
//   now, mindatetime, maxdatetime: parameters with the transaction's time, ``ReplicaSQL/minimumTimestamp`` and
//   ``ReplicaSQL/maximumTimestamp``.
//
// Strings (§5.1.1.5, §5.1.1.7). Characters are Unicode scalars: SQLite counts these, and the standard's "character" can
// mean them in every encoding. UTF-16 would count some characters twice.
//   larder_length(s)            (SQLite's length ends at U+0000)
//   larder_substring(s,start) larder_substring(s,start,count)   from 0; a negative start counts from the end; a
//                               negative count fails. (SQLite's substr ends at U+0000)
//   larder_startswith(s,t) larder_endswith(s,t)  1 or 0. For a constant t, SQLite can use an index for the equivalent
//                               `s >= t AND s < t'`.
//   larder_tolower(s) larder_toupper(s)          for all of Unicode, as UTF-8 (ß to SS)
//   larder_trim(s)              removes characters with the property White_Space
//   larder_matches(s,pattern)   ECMAScript, matches anywhere, in linear time; fails for an invalid pattern, look-around and
//                               back-references
//   Plain SQL: contains `instr(s,t) > 0`, indexof `instr(s,t) - 1`, concat `s || t`, replace `replace(s,t,u)`.
//
// Collections (JSON TEXT; §5.1.1.5, §5.1.1.6). Items are equal as JSON values, numbers by value.
//   larder_json_concat(c,d) larder_json_substring(c,start[,count]) larder_json_contains(c,d) larder_json_startswith(c,d)
//   larder_json_endswith(c,d) larder_json_indexof(c,d) larder_hassubset(c,d) larder_hassubsequence(c,d)
//   larder_json_equal(c,d)      1 or 0: structurally equal
//   Plain SQL: length `json_array_length(c)`, items `json_each(c)`.
//
// Types (§5.1.1.10)
//   larder_cast(x,'Edm.From','Edm.To')   between primitive types by their names; NULL if it fails
//
// Geo (§5.1.1.11), GeoJSON TEXT; `space` is 'geography' (metres on the mean sphere) or 'geometry' (the plane)
//   larder_geo_distance(a,b,space) REAL   larder_geo_length(line,space) REAL   larder_geo_intersects(point,polygon,space) 1 or 0
//
// Requests of the queue and the archive
//   larder_text(blob,id)        the text with a number in a blob of ``RequestTexts``; NULL if there is none
//
// Aggregate functions. They ignore NULL, and are NULL if there is no value.
//   larder_sum(x)       classes mix as in larder_add; INTEGER fails beyond 64 bits
//   larder_average(x)   decimal TEXT of INTEGER and decimals, REAL if one is REAL
//   larder_duration_sum(d), larder_duration_average(d)
//   Plain SQL: count(x), count(DISTINCT x COLLATE …), min(x COLLATE …), max(x COLLATE …), sum(x) of INTEGER.

import LarderStorage

/// The SQL functions and collations that the store registers on its database connections.
enum ReplicaSQL {
  /// All functions, aggregate functions and collations.
  static let extensions = SQLExtensions(
    functions: functions + functions.filter { fallible.contains("\($0.name)/\($0.argumentCount)") }.map(\.naming),
    aggregates: aggregates, collations: [.decimal, .timestamp, .duration])

  private static let functions = numbers + timestamps + strings + collections + geo + [cast, requestText]

  /// The functions that have no value for some rows, with their number of arguments. Each has a variant with one
  /// argument more, a ``FailedCall``, which becomes part of the statement's error.
  private static let fallible: Set = [
    "larder_add/2", "larder_sub/2", "larder_mul/2", "larder_div/2", "larder_divby/2", "larder_mod/2", "larder_neg/1",
    "larder_moment_add/2", "larder_moment_sub/2", "larder_moment_diff/2", "larder_duration_add/2",
    "larder_duration_sub/2", "larder_duration_neg/1", "larder_duration_mul/2", "larder_duration_div/2",
    "larder_substring/3", "larder_json_substring/3", "larder_matches/2",
  ]

  /// The value of `mindatetime()`.
  static let minimumTimestamp = "0001-01-01T00:00:00Z"
  /// The value of `maxdatetime()`.
  static let maximumTimestamp = "9999-12-31T23:59:59.999999999999Z"
}
