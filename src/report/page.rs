use super::markup::escaped;

/// A page of its own around a body: no script, nothing loaded from elsewhere, light or dark as the
/// reader's system is, readable on a telephone.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escaped(title)
    )
}

const STYLE: &str = "\
:root{--text:#1b1b1b;--soft:#595959;--back:#fff;--box:#f5f5f5;--line:#ccc;--add:#e2f5e2;\
--cut:#fbe3e4;--bad:#b00020;--good:#1a6b2b;--weak:#8a5300;--rest:#e6e6e6;--bar:#9db8d9;--strong:#2b5d9b}\
@media(prefers-color-scheme:dark){:root{--text:#e4e4e4;--soft:#a6a6a6;--back:#161616;--box:#242424;\
--line:#444;--add:#16351c;--cut:#47191d;--bad:#ff8a95;--good:#7fd690;--weak:#f0b65b;--rest:#303030;--bar:#44668f;--strong:#8fb8ee}}\
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;\
color:var(--text);background:var(--back);overflow-wrap:anywhere}\
pre{background:var(--box);padding:.6rem;overflow-x:auto;font-size:13px;overflow-wrap:normal}\
table{border-collapse:collapse;display:block;overflow-x:auto}\
td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top;overflow-wrap:normal}\
@media(max-width:40rem){pre{white-space:pre-wrap;overflow-wrap:anywhere}td{overflow-wrap:anywhere}\
.ladder td{overflow-wrap:normal}.ladder :is(td,th):nth-child(6){display:none}}\
th{font-weight:normal;color:var(--soft)}thead th,thead+tbody td{border-bottom:1px solid var(--line)}\
ins{background:var(--add);text-decoration:none}del{background:var(--cut);text-decoration:none}\
summary{cursor:pointer}h3{margin-bottom:.2rem}figure{margin:0;overflow-x:auto}svg{max-width:100%;min-width:40rem;height:auto}\
svg text{font:13px system-ui,sans-serif;fill:var(--text)}\
.rest{fill:var(--rest)}.bar{fill:var(--bar)}.strong{fill:var(--strong)}\
.failed td:nth-child(2),.error td:nth-child(2){font-weight:bold;color:var(--bad)}\
.skipped,.cost{color:var(--soft)}\
td.rung{text-align:center;padding:.2rem .5rem;border:1px solid var(--line)}\
td.tried{background:var(--bar)}td.kept{background:var(--strong);color:var(--back)}td.rung+td:not(.rung){padding-left:.8rem}\
h1.good,h1.weak,h1.bad{border-left:.5rem solid;padding-left:.6rem}\
h1.good{color:var(--good)}h1.weak{color:var(--weak)}h1.bad{color:var(--bad)}\
@media print{body{margin:0;max-width:none}pre{white-space:pre-wrap}ins,del,td{print-color-adjust:exact}table{display:table}}";
