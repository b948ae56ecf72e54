//! Traces without names.

use super::{bill, patterns};
use crate::{TraceReader, anonymise};

/// Fails where a name is left, or where two files become one: the bill would differ.
#[test]
fn an_anonymous_trace_has_the_same_bill_and_no_name() {
    for trace in patterns::all() {
        let mut reader = TraceReader::new(&trace[..]).unwrap();
        let anonymous = anonymise(&mut reader, Vec::new()).unwrap();
        let (known, unknown) = (bill(&trace), bill(&anonymous));
        assert_eq!(unknown.files, known.files);
        assert_eq!(unknown.kinds.len(), known.kinds.len());
        assert_eq!(unknown.folders.len(), known.folders.len());
        let times = |bill: &crate::Bill| {
            bill.patterns.iter().map(|pattern| pattern.summed_ns).collect::<Vec<_>>()
        };
        assert_eq!(times(&unknown), times(&known));
        let text = serde_json::to_string(&unknown).unwrap();
        assert!(!text.contains("eva") && !text.contains("orders"), "{text}");
        assert!(serde_json::to_string(&known).unwrap().contains("eva"));
    }
}
