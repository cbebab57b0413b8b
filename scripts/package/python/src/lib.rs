//! The judge of patches as a Python module; `mendit_judge.pyi` has its types.

use mendit::model::Severity;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

/// Judges replies against files in memory.
#[pyclass(frozen)]
struct Judge(mendit::Judge);

#[pymethods]
impl Judge {
    #[new]
    #[pyo3(signature = (files, *, strict=false, as_written=false, reverse=false, strip=None, directory="", allow_protected=Vec::new()))]
    fn new(
        files: &Bound<'_, PyDict>,
        strict: bool,
        as_written: bool,
        reverse: bool,
        strip: Option<usize>,
        directory: &str,
        allow_protected: Vec<String>,
    ) -> PyResult<Self> {
        let mut taken = Vec::with_capacity(files.len());
        for (path, content) in files {
            taken.push((path.extract::<String>()?, bytes(&content)?));
        }
        let mut judge = mendit::Judge::new(taken)
            .strict(strict)
            .as_written(as_written)
            .reverse(reverse)
            .directory(directory)
            .allow_protected(&allow_protected)
            .map_err(PyValueError::new_err)?;
        if let Some(strip) = strip {
            judge = judge.strip(strip);
        }
        if let Some(one) = judge.skipped().first() {
            let message = format!("{:?}: {}", one.lossy_path, one.reason);
            return Err(PyValueError::new_err(message));
        }
        Ok(Self(judge))
    }

    fn judge(&self, py: Python<'_>, reply: &Bound<'_, PyAny>) -> PyResult<Judged> {
        let reply = bytes(reply)?;
        Ok(Judged(py.detach(|| self.0.judge(reply))))
    }
}

/// A verdict and what the files would be.
#[pyclass(frozen)]
struct Judged(mendit::patch::Judged);

#[pymethods]
impl Judged {
    #[getter]
    fn applies(&self) -> bool {
        self.0.applies()
    }

    #[getter]
    fn feedback(&self) -> &str {
        &self.0.verdict.feedback
    }

    #[getter]
    fn error_code(&self) -> Option<&'static str> {
        self.0.verdict.error_code.map(mendit::model::Code::as_str)
    }

    #[getter]
    fn verdict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let json = self
            .0
            .to_json()
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        py.import("json")?.call_method1("loads", (json,))
    }

    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let files = PyDict::new(py);
        for change in &self.0.changes {
            let after = change.after.as_ref();
            let content = after.map(|state| PyBytes::new(py, &state.bytes));
            files.set_item(change.path.as_str(), content)?;
        }
        Ok(files)
    }

    fn __repr__(&self) -> String {
        let errors = self.0.verdict.problems.iter();
        let errors = errors.filter(|it| it.severity == Severity::Error).count();
        let verdict = self.0.verdict.verdict.as_str();
        format!("<Judged {verdict}, {errors} errors>")
    }
}

// Text is UTF-8; bytes are what they are.
fn bytes(content: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match content.cast::<PyString>() {
        Ok(text) => Ok(text.to_cow()?.into_owned().into_bytes()),
        Err(_) => content.extract(),
    }
}

#[pymodule]
fn mendit_judge(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Judge>()?;
    module.add_class::<Judged>()
}
